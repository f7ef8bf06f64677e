// The source of the rows of a collection: all its documents, or an index.

import { at, isMap, type Json, type Query, textAt } from '../wire/json.ts'
import { literal, refOf } from '../wire/refs.ts'
import { type Cursor, mapping, pageOf, variable } from './data.ts'

/** The parts of an index that pages of rows need. */
export interface IndexShape {
  readonly name: string
  /** Names such as `email`. */
  readonly terms: readonly string[]
  /** Names, in order. */
  readonly values: readonly string[]
  /** Paths within the data; undefined for a term that is not a field of the data. */
  readonly termPaths: readonly (readonly string[] | undefined)[]
  /** The first value, which sorts entries with equal terms; undefined without a value, or for one outside the data. */
  readonly order: { readonly path: readonly string[]; readonly isReversed: boolean } | undefined
  /** A plan can select the index, which covers a single collection and whose entries lead to documents. */
  readonly isSelectable: boolean
  /** Position of the document's reference among the values, if they include it. */
  readonly refAt: number | undefined
  readonly isActive: boolean
}

export function shapeOf(index: Json): IndexShape {
  const values = partsOf(at(index, 'values'))
  const terms = partsOf(at(index, 'terms'))
  const refAt = values.findIndex(part => fieldText(part) === 'ref')
  const first = values[0] === undefined ? undefined : pathIn(values[0])
  return {
    name: textAt(index, 'name') ?? '',
    terms: terms.map(nameOf),
    termPaths: terms.map(pathIn),
    order: first && { path: first, isReversed: at(values[0], 'reverse') === true },
    isSelectable: hasOneSource(index) && (refAt >= 0 || values.length === 0),
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

/** Returns the path within the data; undefined for a binding, for other fields, and for positions in arrays. */
function pathIn(part: Json): readonly string[] | undefined {
  const field = at(part, 'field')
  const steps = Array.isArray(field) ? field : typeof field === 'string' ? field.split('.') : []
  const isText = steps.length > 1 && steps.every(step => typeof step === 'string')
  return isText && steps[0] === 'data' ? steps.slice(1) : undefined
}

/** An index of several collections also has entries of documents that the page of one collection must not show. */
function hasOneSource(index: Json): boolean {
  const source = at(index, 'source')
  const [first, ...others] = Array.isArray(source) ? (source as readonly Json[]) : [source]
  const inner = isMap(first) && first.has('collection') ? first.get('collection') : first
  return others.length === 0 && refOf(inner) !== undefined
}

function nameOf(part: Json): string {
  const binding = textAt(part, 'binding')
  return binding ?? fieldText(part).replace(/^data\./, '')
}

export function covers(index: Json, collection: string): boolean {
  const source = at(index, 'source')
  const sources = Array.isArray(source) ? source : [source]
  return sources.some(one => {
    const inner = isMap(one) && one.has('collection') ? one.get('collection') : one
    const collections = Array.isArray(inner) ? inner : [inner]
    return collections.some(each => each === '_' || refOf(each)?.id === collection)
  })
}

/** The source of the rows on a page: a collection, or the matches of an index. */
export interface RowSource {
  readonly collection: string
  readonly index: IndexShape | undefined
  readonly terms: readonly Json[]
  readonly isReversed: boolean
}

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

/** Documents, or index entries that lead to no document. */
export function rowsQuery(source: RowSource, size: number, cursor: Cursor): Query {
  return mapping(pageOf(setOf(source), size, cursor), elementIn(source, variable()))
}

/** Returns whether the rows of a source have documents. The entries of an index may contain only values. */
export function leadsToDocuments({ index }: RowSource): boolean {
  return index === undefined || index.values.length === 0 || index.refAt !== undefined
}

/** The reference in an element of a source that leads to documents. */
export function refIn({ index }: RowSource, element: Query): Query {
  const isWithin = index?.refAt !== undefined && index.values.length > 1
  return isWithin ? { select: BigInt(index.refAt), from: element } : element
}

/** The document of an element, or the element itself. */
export function elementIn(source: RowSource, element: Query): Query {
  if (source.index === undefined) return { get: element }
  if (!leadsToDocuments(source)) return element
  return { let: [{ found: refIn(source, element) }], in: documentIn({ var: 'found' }) }
}

/** The reference itself if the document is missing or may not be read. */
function documentIn(found: Query): Query {
  return { if: { exists: found }, then: { get: found }, else: found }
}
