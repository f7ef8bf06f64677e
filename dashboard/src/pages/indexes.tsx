// Indexes of both languages: listed; those of version 4 also made with a form, and one by one.

import { useState } from 'preact/hooks'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Check, Choice, Field, NameField } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { IndexSize } from '../parts/index-size.tsx'
import { useEvery } from '../parts/live.ts'
import { Loaded } from '../parts/load.tsx'
import { type Column, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import { type IndexShape, shapeOf } from '../service/row-source.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, isMap, type Json, type Query, textAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'
import { CollectionIndexList } from './collection-index-list.tsx'

/** Names of the collections that an index covers; `every collection` for the wildcard. */
function sourceNames(index: Json): readonly string[] {
  const source = at(index, 'source')
  const sources = Array.isArray(source) ? source : [source]
  return sources.flatMap(one => {
    const inner = isMap(one) && one.has('collection') ? one.get('collection') : one
    const names = Array.isArray(inner) ? inner : [inner]
    return names.map(each => (each === '_' ? 'every collection' : (refOf(each)?.id ?? '')))
  })
}

const columns: readonly Column[] = [
  [
    'Name',
    index => {
      const name = textAt(index, 'name') ?? ''
      return <a href={addressOf(['indexes', name])}>{name}</a>
    },
  ],
  ['Covers', index => sourceNames(index).join(', ')],
  ['Found by', index => shapeOf(index).terms.join(', ') || '–'],
  ['Holds', index => shapeOf(index).values.join(', ') || 'ref'],
  ['Unique', index => (at(index, 'unique') === true ? uniqueText(shapeOf(index)) : 'no')],
  ['State', index => (shapeOf(index).isActive ? 'ready' : 'being built; queries that use it are refused')],
  ['Size', index => <IndexSize part={{ index: shapeOf(index).name }} name={shapeOf(index).name} />],
]

/** What a unique index keeps apart, in words: the fields that no two documents may share all of. */
function uniqueText({ terms, values, refAt }: Pick<IndexShape, 'terms' | 'values' | 'refAt'>): string {
  if (refAt !== undefined) return 'no effect: it holds ref, which differs for each document'
  return `yes: ${[...terms, ...values].join(' + ') || 'one document at most'}`
}

/** The pages of indexes. */
export function Indexes({ path: [name] }: { readonly path: readonly string[] }) {
  return name === undefined ? <IndexList /> : <Index name={name} />
}

function IndexList() {
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <Heading title="Indexes">
        {rights.value.writes && pastTime.value === undefined && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New index
          </button>
        )}
      </Heading>
      <section aria-labelledby="of-version-4">
        <h2 id="of-version-4">Indexes of version 4</h2>
        <SchemaList
          native="indexes"
          label="Indexes"
          columns={columns}
          rereadsWhile={index => !shapeOf(index).isActive}
          whenEmpty="There are no indexes of version 4. An index finds documents quickly by the values of their fields and keeps them in order. Example: an index over users, found by email."
        />
      </section>
      <CollectionIndexList />
      {isCreating && <NewIndex onClose={() => setCreating(false)} />}
    </>
  )
}

function Index({ name }: { name: string }) {
  return (
    <SchemaPage
      native="indexes"
      section="indexes"
      plural="Indexes"
      singular="index"
      id={name}
      isTyped
      deleteWarning="Queries that use this index fail from then on. Documents stay as they are."
    >
      {(index, reload) => <IndexFacts index={index} reload={reload} />}
    </SchemaPage>
  )
}

const buildingEveryMs = 1500

function IndexFacts({ index, reload }: { index: Json; reload: () => void }) {
  const { name, isActive } = shapeOf(index)
  const collection = sourceNames(index).find(source => source !== 'every collection')
  useEvery(isActive ? undefined : buildingEveryMs, reload)
  return (
    <p>
      {isActive ? (
        collection !== undefined && (
          <a class="button" href={addressOf(['collections', collection], { index: name })}>
            See what it holds
          </a>
        )
      ) : (
        <span role="status">
          <progress aria-label="Being built" /> It is being built: the documents that were there before it are
          put into it. Until that is done, queries that use it are refused. This page shows when it is ready.
        </span>
      )}
    </p>
  )
}

interface Part {
  readonly field: string
  readonly isReversed: boolean
}

const noPart: Part = { field: '', isReversed: false }

/** `email`, `address.city` or `ref` as a path into the document; numbers index into arrays. */
function pathOf(field: string): readonly Query[] {
  const steps = field.split('.').map(step => (/^\d+$/.test(step) ? BigInt(step) : step))
  const first = steps[0]
  const isTop =
    first === 'data' || first === 'ref' || first === 'ts' || first === 'ttl' || first === 'instance'
  return isTop ? steps : ['data', ...steps]
}

function partsOf(parts: readonly Part[]): readonly Query[] {
  return parts
    .filter(({ field }) => field.trim() !== '')
    .map(({ field, isReversed }) => ({
      object: { field: pathOf(field.trim()), ...(isReversed && { reverse: true }) },
    }))
}

function NewIndex({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [chosen, setCollection] = useState('')
  const [terms, setTerms] = useState<readonly Part[]>([noPart])
  const [values, setValues] = useState<readonly Part[]>([noPart])
  const [isUnique, setUnique] = useState(false)
  const collections = useChoices('collections')
  const names = collections.data ?? []
  const collection = chosen || (names[0] ?? '')
  const uniqueness = uniquenessOf(fieldNames(terms), fieldNames(values))
  const create = async (signal: AbortSignal) => {
    const termParts = partsOf(terms)
    const valueParts = partsOf(values)
    const fields: Record<string, Query> = { name, source: { collection } }
    if (termParts.length > 0) fields.terms = termParts
    // The reference at the end leads from an entry to its document. Among what is unique it would make all entries differ.
    if (valueParts.length > 0) fields.values = isUnique ? valueParts : withRef(valueParts, values)
    if (isUnique) fields.unique = true
    await createSchema('indexes', { object: fields }, signal)
    onClose()
    go(addressOf(['indexes', name]))
  }
  return (
    <FormDialog
      title="New index"
      submit="Create"
      isReady={name !== '' && collection !== '' && !(isUnique && uniqueness.isVoid)}
      onClose={onClose}
      onSubmit={create}
    >
      <NameField value={name} onInput={setName} placeholder="users_by_email" />
      <Loaded of={collections}>
        {() => (
          <Choice
            label="Collection"
            value={collection}
            onChange={setCollection}
            options={names.map(each => [each, each] as const)}
          />
        )}
      </Loaded>
      <Parts legend="Documents are found by" parts={terms} onChange={setTerms} />
      <Parts legend="Sorted by" parts={values} onChange={setValues} canReverse />
      <Check label="Unique" isOn={isUnique} onChange={setUnique} />
      <p class={isUnique && uniqueness.isVoid ? 'problem' : 'hint'} role="status">
        {isUnique ? uniqueness.text : 'Not unique: any number of documents may have the same values.'}
      </p>
      <p class="hint">
        An index over several collections, or one with bindings, is made in the Shell with CreateIndex.
      </p>
    </FormDialog>
  )
}

const fieldNames = (parts: readonly Part[]) =>
  parts.map(({ field }) => field.trim()).filter(field => field !== '')

/** What a unique index would keep apart, in a sentence; `isVoid` when it would be nothing. */
function uniquenessOf(terms: readonly string[], values: readonly string[]) {
  const fields = [...new Set([...terms, ...values])]
  if (fields.includes('ref') || fields.includes('ts')) {
    const own = fields.includes('ref') ? 'ref' : 'ts'
    return {
      isVoid: true,
      text: `Unique has no effect with ${own}: it differs for each document. Leave ${own} out.`,
    }
  }
  if (fields.length === 0) return { isVoid: true, text: 'Say above which fields have to be unique.' }
  const [first, ...others] = fields
  const together = `No two documents may have the same ${fields.join(' and ')}`
  if (others.length === 0) return { isVoid: false, text: `${together}. A write that breaks this is refused.` }
  const note = values.length > 0 ? ' The fields that it is sorted by count, too.' : ''
  return {
    isVoid: false,
    text: `${together}, taken together; the same ${first} with another ${others.join(' or ')} is allowed.${note}`,
  }
}

function withRef(written: readonly Query[], parts: readonly Part[]): readonly Query[] {
  const hasRef = parts.some(({ field }) => field.trim() === 'ref')
  return hasRef ? written : [...written, { object: { field: ['ref'] } }]
}

interface PartsProps {
  readonly legend: string
  readonly parts: readonly Part[]
  readonly onChange: (parts: readonly Part[]) => void
  readonly canReverse?: boolean
}

function Parts({ legend, parts, onChange, canReverse }: PartsProps) {
  const change = (at: number, part: Part) =>
    onChange(parts.map((before, place) => (place === at ? part : before)))
  return (
    <fieldset class="parts">
      <legend>{legend}</legend>
      {parts.map((part, at) => (
        <div class="inline-form" key={at}>
          <Field
            label={`Field ${at + 1}`}
            value={part.field}
            isMono
            placeholder="email, or address.city"
            onInput={field => change(at, { ...part, field })}
          />
          {canReverse && (
            <Check
              label="descending"
              isOn={part.isReversed}
              onChange={isReversed => change(at, { ...part, isReversed })}
            />
          )}
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => onChange([...parts, noPart])}>
        Add a field
      </button>
    </fieldset>
  )
}
