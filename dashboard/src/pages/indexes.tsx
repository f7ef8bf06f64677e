// The pages of indexes: a list of the indexes of both languages, a form that creates an index of version 4, and a page
// for each index.

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Check, Choice, Field, NameField, optionsOf } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { IndexSize } from '../parts/index-size.tsx'
import { useEvery } from '../parts/live.ts'
import { LoadedContent } from '../parts/load.tsx'
import { type Column, nameColumn, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { addressOf, go } from '../router.ts'
import { type IndexShape, shapeOf } from '../service/row-source.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { at, isMap, type Json, type Query } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'
import { CollectionIndexList } from './collection-index-list.tsx'

/** Returns the names of the collections that an index covers; `every collection` for the wildcard. */
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
  nameColumn('indexes'),
  ['Collections', index => sourceNames(index).join(', ')],
  ['Terms', index => shapeOf(index).terms.join(', ') || '–'],
  ['Values', index => shapeOf(index).values.join(', ') || 'ref'],
  ['Unique', index => (at(index, 'unique') === true ? uniqueText(shapeOf(index)) : 'no')],
  ['State', index => (shapeOf(index).isActive ? 'ready' : 'being built; queries that use it fail')],
  ['Size', index => <IndexSize part={{ index: shapeOf(index).name }} name={shapeOf(index).name} />],
]

/** Fields whose combination must be unique, in words. */
function uniqueText({ terms, values, refAt }: Pick<IndexShape, 'terms' | 'values' | 'refAt'>): string {
  if (refAt !== undefined) return 'no effect: the values include ref, which differs for each document'
  return `yes: ${[...terms, ...values].join(' + ') || 'at most one document'}`
}

export function Indexes({ path: [name] }: { readonly path: readonly string[] }) {
  if (name === undefined) return <IndexList />
  return (
    <SchemaPage
      native="indexes"
      singular="index"
      id={name}
      deleteWarning="Queries that use this index then fail. Documents are not changed."
    >
      {(index, reload) => <IndexState index={index} reload={reload} />}
    </SchemaPage>
  )
}

function IndexList() {
  return (
    <>
      <Heading title="Indexes">
        <CreateButton text="Create index" isAllowed={rights.value.writes} form={NewIndex} />
      </Heading>
      <section aria-labelledby="of-version-4">
        <h2 id="of-version-4">Indexes of version 4</h2>
        <SchemaList
          native="indexes"
          label="Indexes"
          columns={columns}
          rereadsWhile={index => !shapeOf(index).isActive}
          whenEmpty="There are no indexes of version 4. Create one to find documents by the values of their fields without a scan, for example users by email."
        />
      </section>
      <CollectionIndexList />
    </>
  )
}

const buildingEveryMs = 1500

function IndexState({ index, reload }: { index: Json; reload: () => void }) {
  const { name, isActive } = shapeOf(index)
  const collection = sourceNames(index).find(source => source !== 'every collection')
  useEvery(isActive ? undefined : buildingEveryMs, reload)
  return (
    <p>
      {isActive ? (
        collection !== undefined && (
          <a class="button" href={addressOf(['collections', collection], { index: name })}>
            Show entries
          </a>
        )
      ) : (
        <span role="status">
          <progress aria-label="Being built" /> The index is being built from the existing documents. Queries
          that use the index fail until it is ready. This page refreshes automatically.
        </span>
      )}
    </p>
  )
}

/** A term or value of the new index. */
interface Part {
  readonly field: string
  readonly isReversed: boolean
}

const noPart: Part = { field: '', isReversed: false }

/** Returns the path of a field such as `email`, `address.city` or `ref`. Numbers are array indexes. */
function pathOf(field: string): readonly Query[] {
  const steps = field.split('.').map(step => (/^\d+$/.test(step) ? BigInt(step) : step))
  const first = steps[0]
  // Other fields are within the data.
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
    // The reference at the end leads from an entry to its document. In a unique index, it would make all entries
    // different.
    if (valueParts.length > 0) fields.values = isUnique ? valueParts : withRef(valueParts, values)
    if (isUnique) fields.unique = true
    await createSchema('indexes', { object: fields }, signal)
    onClose()
    go(addressOf(['indexes', name]))
  }
  return (
    <FormDialog
      title="Create index"
      submit="Create"
      isReady={name !== '' && collection !== '' && !(isUnique && uniqueness.isVoid)}
      onClose={onClose}
      onSubmit={create}
    >
      <NameField value={name} onInput={setName} placeholder="users_by_email" />
      <LoadedContent of={collections}>
        {() => (
          <Choice label="Collection" value={collection} onChange={setCollection} options={optionsOf(names)} />
        )}
      </LoadedContent>
      <Parts legend="Terms: fields to look up by" parts={terms} onChange={setTerms} />
      <Parts legend="Values: fields to sort by" parts={values} onChange={setValues} canReverse />
      <Check label="Unique" isOn={isUnique} onChange={setUnique} />
      <p class={isUnique && uniqueness.isVoid ? 'problem' : 'hint'} role="status">
        {isUnique ? uniqueness.text : 'Not unique: any number of documents may have the same values.'}
      </p>
      <p class="hint">
        To create an index over several collections, or with bindings, use CreateIndex in the Shell.
      </p>
    </FormDialog>
  )
}

const fieldNames = (parts: readonly Part[]) =>
  parts.map(({ field }) => field.trim()).filter(field => field !== '')

/** The effect of the option Unique, in a sentence. `isVoid`: the option has no effect. */
function uniquenessOf(terms: readonly string[], values: readonly string[]) {
  const fields = [...new Set([...terms, ...values])]
  if (fields.includes('ref') || fields.includes('ts')) {
    const own = fields.includes('ref') ? 'ref' : 'ts'
    return {
      isVoid: true,
      text: `Unique has no effect with ${own}, which differs for each document. Remove ${own}.`,
    }
  }
  if (fields.length === 0) return { isVoid: true, text: 'Enter above the fields that must be unique.' }
  const [first, ...others] = fields
  const together = `No two documents may have the same ${fields.join(' and ')}`
  if (others.length === 0) return { isVoid: false, text: `${together}. Duplicates are rejected.` }
  const note = values.length > 0 ? ' The check includes terms and values.' : ''
  return {
    isVoid: false,
    text: `${together} in combination. The same ${first} with another ${others.join(' or ')} is allowed.${note}`,
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
    onChange(parts.map((before, beforeAt) => (beforeAt === at ? part : before)))
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
      <Button class="quiet" onClick={() => onChange([...parts, noPart])}>
        Add a field
      </Button>
    </fieldset>
  )
}
