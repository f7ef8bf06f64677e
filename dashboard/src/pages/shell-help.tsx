// Help for writing queries: completions, and a reference of the functions.

import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import { fqlFunctions } from '../../../src/fql4/text/index.ts'
import { type LibraryName, libraryNames } from '../../../src/fql10/text/library.ts'
import { keyText } from '../../../src/fql10/text/quoted.ts'
import type { Version } from '../language.ts'
import type { Completion, CompletionsAt, EditorProps } from '../parts/code-editor.ts'
import { Field } from '../parts/fields.tsx'
import { useChoices } from '../parts/schema-list.tsx'
import { type CollectionMembers, readMembers } from '../service/collection-members.ts'
import { mayCheck, readValueMembers } from '../service/query-checks.ts'
import { completeQuery } from '../wire/complete-query.ts'
import type { Signature } from '../wire/signatures.ts'
import { type Subject, subjectAt } from '../wire/subject-at.ts'

const functionCompletions: readonly Completion[] = fqlFunctions.map(
  ({ name, signature, summary, result }) => ({
    label: name,
    kind: 'function',
    detail: signature.slice(name.length),
    info: `${summary}\n→ ${result}`,
    text: name,
  }),
)

/** A field or method follows any dot. Another name of the library follows its module, or stands alone. */
function completionOf({ owner, name, parameters, result, summary }: LibraryName): Completion {
  const nameStart = name.lastIndexOf('.') + 1
  return {
    label: name.slice(nameStart),
    kind: parameters === '' ? 'property' : 'function',
    detail: `${parameters}${owner && ` of ${owner}`}`,
    info: `${summary}\n→ ${result}`,
    text: name.slice(nameStart),
    after: owner === '' ? name.slice(0, nameStart) : '.',
  }
}

const modules = new Set(
  libraryNames
    .filter(({ owner, name }) => owner === '' && name.includes('.'))
    .map(({ name }) => name.slice(0, name.indexOf('.'))),
)

const completions10: readonly Completion[] = [
  ...libraryNames.map(completionOf),
  ...[...modules].map(
    (label): Completion => ({ label, kind: 'class', detail: 'module', text: label, after: '' }),
  ),
]

interface ShellCompletions {
  /** Functions of a version of the language, and names of schema objects. */
  readonly completions: readonly Completion[]
  /** Completes the members of the value before the cursor. */
  readonly completionsAt: EditorProps['completionsAt']
}

/** `generation` changes when the schema may have changed. */
export function useCompletions(version: Version, generation: unknown): ShellCompletions {
  const collections = useChoices('collections')
  const completions = useNames(version, collections.data)
  const completionsAt = useMembers(version, collections.data, generation)
  return { completions, completionsAt }
}

function useNames(version: Version, collections: readonly string[] | undefined): readonly Completion[] {
  const indexes = useChoices('indexes')
  const functions = useChoices('functions')
  return useMemo(() => {
    if (version === '10') {
      const objects = [
        ...completionsOfNames10(collections, 'Collection'),
        ...completionsOfNames10(functions.data, 'Function'),
      ]
      return [...completions10, ...objects]
    }
    return [
      ...functionCompletions,
      ...completionsOfNames(collections, 'Collection'),
      ...completionsOfNames(indexes.data, 'Index'),
      ...completionsOfNames(functions.data, 'Function'),
    ]
  }, [version, collections, indexes.data, functions.data])
}

/**
 * Caches the members of collections until `generation` changes, but no failed reads. Each database has its own instance
 * of the page.
 */
function useMembers(version: Version, collections: readonly string[] | undefined, generation: unknown) {
  const names = useMemo(() => new Set(collections), [collections])
  const cache = useRef(new Map<string, Promise<CollectionMembers>>())
  useMemo(() => cache.current.clear(), [generation])
  return useCallback(
    async (text: string): Promise<CompletionsAt> => {
      if (version !== '10') return { list: [], isComplete: false }
      const membersOf = (name: string) => {
        const { current } = cache
        const cached = current.get(name)
        if (cached !== undefined) return cached
        const found = readMembers(name, AbortSignal.timeout(membersMs))
        current.set(name, found)
        void found.then(({ isComplete }) => {
          if (!isComplete && current.get(name) === found) current.delete(name)
        })
        return found
      }
      const subject = subjectAt(text, names)
      const [fields, typed] = await Promise.all([
        subject === undefined ? [] : memberCompletions(subject, membersOf, /\.\s*$/.test(text)),
        membersByType(text),
      ])
      // Documents of collections that allow undeclared fields have more fields than their type.
      const known = new Set(fields.map(({ label }) => label))
      const others = typed.filter(({ label }) => !known.has(label))
      return { list: [...fields, ...others], isComplete: typed.length > 0 }
    },
    [version, names],
  )
}

/** Milliseconds after which completion stops waiting for the members of a collection or a value. */
const membersMs = 3000
/** The members of values in longer texts are not read, because each dot would send the text. */
const typedCharsMax = 100_000

/** The members of the value before a dot at the end of `text`, by its static type. */
async function membersByType(text: string): Promise<readonly Completion[]> {
  const query =
    text.endsWith('.') && text.length <= typedCharsMax && mayCheck() ? completeQuery(text) : undefined
  if (query === undefined) return []
  const members = await readValueMembers(query, text.length, AbortSignal.timeout(membersMs)).catch(() => [])
  return members.map(({ name, type }) => ({
    label: name,
    kind: type.includes('=>') ? 'function' : 'property',
    detail: type,
    ...textAfterDot(name),
  }))
}

/** After a dot, the parser accepts only plain names. */
function textAfterDot(name: string): Pick<Completion, 'text' | 'replacesDot'> {
  const key = keyText(name)
  return key === name ? { text: name } : { text: `[${key}]`, replacesDot: true }
}

/** `isAfterDot`: the user types a member after a dot, instead of a key of an object. */
async function memberCompletions(
  { kind, collection, path }: Subject,
  membersOf: (name: string) => Promise<CollectionMembers>,
  isAfterDot: boolean,
): Promise<readonly Completion[]> {
  let { fields, indexes } = await membersOf(collection)
  if (kind === 'collection') {
    return [...indexes].map(([label, terms]) => ({
      label,
      kind: 'function',
      detail: `${terms} index of ${collection}`,
      text: label,
    }))
  }
  let owner = collection
  for (const step of path) {
    const field: Signature | undefined = fields.get(step)
    if (field?.collection === undefined) fields = field?.fields ?? new Map()
    else {
      owner = field.collection
      fields = (await membersOf(owner)).fields
    }
  }
  return [...fields].map(([label, { text }]) => ({
    label,
    kind: 'property',
    detail: `${text} of ${owner}`,
    ...(isAfterDot ? textAfterDot(label) : { text: keyText(label) }),
  }))
}

function completionsOfNames(names: readonly string[] | undefined, call: string): Completion[] {
  return (names ?? []).map(label => ({
    label,
    kind: 'class',
    detail: call,
    text: `${call}(${JSON.stringify(label)})`,
  }))
}

/**
 * In version 10, an identifier is an expression for the object with this name. Objects with other names need a call of
 * their module, such as `Collection("a-b")`.
 */
function completionsOfNames10(names: readonly string[] | undefined, module: string): Completion[] {
  return completionsOfNames(names, module).map(completion => {
    const isPlain = /^[A-Za-z_]\w*$/.test(completion.label)
    return { ...completion, after: '', ...(isPlain && { text: completion.label }) }
  })
}

interface Help {
  readonly name: string
  readonly signature: string
  readonly result: string
  readonly summary: string
  /** Undefined if the reference does not contain the effect. */
  readonly effect?: string
}

const helps: Readonly<Record<Version, readonly Help[]>> = {
  '4': fqlFunctions,
  '10': libraryNames.map(({ owner, name, parameters, result, summary }) => {
    const path = owner === '' ? name : `${owner}.${name}`
    return { name: path, signature: path + parameters, result, summary }
  }),
}

const shownMax = 40

export function FunctionHelp({ version }: { version: Version }) {
  const [filter, setFilter] = useState('')
  const wanted = filter.trim().toLowerCase()
  const found = helps[version].filter(
    ({ name, summary }) => name.toLowerCase().includes(wanted) || summary.toLowerCase().includes(wanted),
  )
  return (
    <details class="function-help">
      <summary>Function reference</summary>
      <Field label="Find a function" type="search" value={filter} onInput={setFilter} />
      <dl>
        {found.slice(0, shownMax).map(({ name, signature, summary, result, effect }) => (
          <div key={name}>
            <dt>
              <code>{signature}</code> → {result}
              {effect !== undefined && effect !== 'pure' && <span class="role">{effect}s</span>}
            </dt>
            <dd>{summary}</dd>
          </div>
        ))}
      </dl>
      {found.length > shownMax && (
        <p class="hint">{found.length - shownMax} more. Type a part of the name to find them.</p>
      )}
    </details>
  )
}
