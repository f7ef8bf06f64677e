// Where the rows of a collection come from: all of its documents, or an index over it.

import { at, isMap, type Json, type Query, textAt } from '../wire/json.ts'
import { literal, refOf } from '../wire/refs.ts'
import { type Cursor, mapping, pageOf, variable } from './data.ts'

/** An index as far as its rows are concerned. */
export interface IndexShape {
  readonly name: string
  /** What is looked up by, such as `email`. */
  readonly terms: readonly string[]
  /** What entries hold, in order. */
  readonly values: readonly string[]
  /** The place among the values at which the document's reference stands; undefined when it is not among them. */
  readonly refAt: number | undefined
  readonly isActive: boolean
}

/** The shape of an index document. */
export function shapeOf(index: Json): IndexShape {
  const values = partsOf(at(index, 'values'))
  const refAt = values.findIndex(part => fieldText(part) === 'ref')
  return {
    name: textAt(index, 'name') ?? '',
    terms: partsOf(at(index, 'terms')).map(nameOf),
    values: values.map(nameOf),
    refAt: refAt < 0 ? undefined : refAt,
    isActive: at(index, 'active') === true,
  }
}

function partsOf(parts: Json | undefined): readonly Json[] {
  if (Array.isArray(parts)) return parts
  return isMap(parts) ? [parts] : []
}

function fieldText(part: Json): string {
  const field = at(part, 'field')
  return Array.isArray(field) ? field.map(String).join('.') : String(field ?? '')
}

function nameOf(part: Json): string {
  const binding = textAt(part, 'binding')
  return binding ?? fieldText(part).replace(/^data\./, '')
}

/** Whether an index covers a collection. */
export function covers(index: Json, collection: string): boolean {
  const source = at(index, 'source')
  const sources = Array.isArray(source) ? source : [source]
  return sources.some(one => {
    const inner = isMap(one) && one.has('collection') ? one.get('collection') : one
    const collections = Array.isArray(inner) ? inner : [inner]
    return collections.some(each => each === '_' || refOf(each)?.id === collection)
  })
}

export interface RowSource {
  readonly collection: string
  readonly index: IndexShape | undefined
  readonly terms: readonly Json[]
  readonly isReversed: boolean
}

/** The set that a source means. */
export function setOf({ collection, index, terms, isReversed }: RowSource): Query {
  const set: Query =
    index === undefined
      ? { documents: { collection } }
      : terms.length === 0
        ? { match: { index: index.name } }
        : {
            match: { index: index.name },
            terms: terms.length === 1 ? literal(terms[0] as Json) : terms.map(literal),
          }
  return isReversed ? { reverse: set } : set
}

/** A page of rows: documents where entries lead to them, otherwise the entries. */
export function rowsQuery(source: RowSource, size: number, cursor: Cursor): Query {
  const page = pageOf(setOf(source), size, cursor)
  const { index } = source
  if (index === undefined) return mapping(page, { get: variable() })
  if (index.values.length === 0) return mapping(page, documentIn(variable()))
  if (index.refAt === undefined) return page
  const found: Query =
    index.values.length === 1 ? variable() : { select: BigInt(index.refAt), from: variable() }
  return mapping(page, { let: [{ found }], in: documentIn({ var: 'found' }) })
}

/** A reference in an index may lead nowhere, or to what the caller may not read. */
function documentIn(found: Query): Query {
  return { if: { exists: found }, then: { get: found }, else: found }
}
