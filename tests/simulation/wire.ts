// Builds the queries of the simulation as wire JSON, and the documents of the expected responses.

import { formatTime, timeFromMicros } from '../../src/values/time.ts'
import type { DocumentName, ModelVersion } from '../support/model.ts'

export type Wire = unknown

/** An object literal in a query. */
export const object = (fields: Readonly<Record<string, Wire>>): Wire => ({ object: fields })
export const collection = (name: string): Wire => ({ collection: name })
export const reference = ({ collection: name, id }: DocumentName): Wire => ({
  ref: collection(name),
  id: String(id),
})
export const variable = (name: string): Wire => ({ var: name })
export const select = (path: readonly Wire[], from: Wire): Wire => ({ select: path, from })
export const lambda = (parameter: string | readonly string[], body: Wire): Wire => ({
  lambda: parameter,
  expr: body,
})
export const match = (index: string, term: Wire): Wire => ({ match: { index }, terms: term })
export const dataOf = (fields: Readonly<Record<string, Wire>>, ttl?: number): Wire =>
  object({ data: object(fields), ...(ttl !== undefined && { ttl: wireTime(ttl) }) })

/** A time as JSON in queries and responses. */
function wireTime(micros: number): Wire {
  return { '@ts': formatTime(timeFromMicros(micros)) }
}

/** The reference of a document in a response. */
export function shownReference({ collection: name, id }: DocumentName): Wire {
  const collections = { '@ref': { id: 'collections' } }
  return { '@ref': { id: String(id), collection: { '@ref': { id: name, collection: collections } } } }
}

/** A document in a response. */
export function shownDocument(name: DocumentName, { data, ts, ttl }: ModelVersion): Wire {
  return { ref: shownReference(name), ts, data, ...(ttl !== undefined && { ttl: wireTime(ttl) }) }
}
