// Finds the references between collections: by the types of fields, and by the contents of the first documents.

import { at, type Json, listAt, textAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'
import type { Signature } from '../wire/signatures.ts'
import { asPage, mapping, pageOf, read, variable } from './data.ts'
import { signaturesOf } from './declared-fields.ts'

/** A field in one collection that refers to documents of another or the same collection. */
export interface Reference {
  readonly from: string
  /** The path of the field, joined by dots. */
  readonly field: string
  readonly to: string
  /** The type of the field declares the reference; false if it was found in documents. */
  readonly isDeclared: boolean
}

export interface SchemaGraph {
  readonly collections: readonly string[]
  readonly references: readonly Reference[]
  /** True if the database has more collections. */
  readonly isMore: boolean
}

/** Larger diagrams are not readable. */
const collectionsMax = 60
/** Documents that are read per collection. */
const sampleSize = 20
/** Collections per query. */
const collectionsAtOnce = 10

/** Throws `ServiceError` for callers who may not list collections. */
export async function readGraph(signal: AbortSignal): Promise<SchemaGraph> {
  const page = pageOf({ collections: null }, collectionsMax)
  const { after, data } = asPage((await read(mapping(page, { get: variable() }), signal)).value)
  const collections = data.map(each => textAt(each, 'name') ?? '')
  const declared = data.flatMap(declaredReferences)
  const sampled: Reference[] = []
  for (let first = 0; first < collections.length; first += collectionsAtOnce)
    sampled.push(...(await sampledReferences(collections.slice(first, first + collectionsAtOnce), signal)))
  const known = new Set(collections)
  const found = new Map<string, Reference>()
  for (const reference of [...declared, ...sampled]) {
    const key = JSON.stringify([reference.from, reference.field, reference.to])
    if (known.has(reference.to) && !found.has(key)) found.set(key, reference)
  }
  return { collections, references: [...found.values()], isMore: after !== undefined }
}

function declaredReferences(collection: Json): readonly Reference[] {
  const from = textAt(collection, 'name') ?? ''
  const visit = (fields: ReadonlyMap<string, Signature>, path: readonly string[]): readonly Reference[] =>
    [...fields].flatMap(([name, type]) => {
      const field = [...path, name]
      const own = type.collection ?? type.element?.collection
      return own === undefined
        ? visit(type.fields, field)
        : [{ from, field: field.join('.'), to: own, isDeclared: true }]
    })
  return visit(signaturesOf(collection), [])
}

/** Returns only names and references, because documents may be megabytes long. */
async function sampledReferences(
  collections: readonly string[],
  signal: AbortSignal,
): Promise<readonly Reference[]> {
  const value = { select: 1n, from: variable('field') }
  const element = { select: [1n, 0n], from: variable('field'), default: null }
  const data = { to_array: { select: ['data'], from: { get: variable() }, default: { object: {} } } }
  const isReference = { or: [{ is_ref: value }, { is_ref: element }] }
  const fields = mapping(
    { filter: { lambda: 'field', expr: isReference }, collection: data },
    [
      { select: 0n, from: variable('field') },
      { if: { is_ref: value }, then: value, else: element },
    ],
    'field',
  )
  const queries = collections.map(name =>
    mapping(pageOf({ documents: { collection: name } }, sampleSize), fields),
  )
  // Callers who may not read the documents of one of these collections see only declared references.
  const result = await read(queries, signal).catch(cause => {
    if (signal.aborted) throw cause
    return undefined
  })
  return collections.flatMap((from, number) =>
    listAt(result?.value, number, 'data')
      .flatMap(document => listAt(document))
      .flatMap(pair => {
        const to = refOf(at(pair, 1))
        if (!to || to.isNative || to.isElsewhere) return []
        return [{ from, field: textAt(pair, 0) ?? '', to: to.collection, isDeclared: false }]
      }),
  )
}
