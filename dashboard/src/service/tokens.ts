// The tokens of a user. An index over tokens finds them at once where there is one; otherwise tokens are gone through,
// a thousand at a time.

import { at, isMap, type Json, type Query } from '../wire/json.ts'
import { documentRef, refOf } from '../wire/refs.ts'
import { asPage, mapping, type Page, pageOf, read, variable, write } from './data.ts'
import type { DocumentName } from './documents.ts'
import { isAborted } from './faults.ts'
import { listSchema } from './schema.ts'

const pageSize = 100
const scanSize = 1000

const allTokens: Query = { documents: { tokens: null } }

/** Whether an index finds tokens by their user and nothing else. */
function isByUser(index: Json): boolean {
  const terms = at(index, 'terms')
  const term = Array.isArray(terms) && terms.length === 1 ? terms[0] : terms
  const field = isMap(term) ? at(term, 'field') : undefined
  const path = Array.isArray(field) ? field : [field]
  const source = refOf(at(index, 'source'))
  const isOfTokens = source?.id === 'tokens' && at(index, 'source', '@ref', 'collection') === undefined
  return isOfTokens && path.length === 1 && path[0] === 'instance' && at(index, 'values') === undefined
}

/** The name of an index over tokens by user; undefined where there is none, or none may be seen. */
async function indexByUser(signal: AbortSignal): Promise<string | undefined> {
  try {
    const { data } = await listSchema('indexes', scanSize, {}, signal)
    const found = data.find(index => isByUser(index) && at(index, 'active') === true)
    const name = at(found, 'name')
    return typeof name === 'string' ? name : undefined
  } catch (cause) {
    if (isAborted(cause)) throw cause
    return undefined
  }
}

/** A page of tokens, of one user or of all; tells how many were looked at. */
export async function listTokens(
  user: DocumentName | undefined,
  after: Json | undefined,
  onSearched: (tokens: number) => void,
  signal: AbortSignal,
): Promise<Page> {
  if (user === undefined) return listSchema('tokens', pageSize, { after }, signal)
  const ref = documentRef(user.collection, user.id)
  const index = await indexByUser(signal)
  if (index !== undefined) {
    const page = pageOf({ match: { index }, terms: ref }, pageSize, { after })
    return asPage((await read(mapping(page, { get: variable() }), signal)).value)
  }
  let cursor = after
  for (let searched = scanSize; ; searched += scanSize) {
    const page = asPage((await read(ofUser(ref, cursor), signal)).value)
    if (page.data.length > 0 || page.after === undefined) return page
    cursor = page.after
    onSearched(searched)
  }
}

/** Those of a page of all tokens that are a user's. */
function ofUser(user: Query, after: Json | undefined): Query {
  const tokens = mapping(pageOf(allTokens, scanSize, { after }), { get: variable() })
  const isUsers = { equals: [{ select: 'instance', from: variable(), default: null }, user] }
  return { filter: { lambda: 'element', expr: isUsers }, collection: tokens }
}

/** Deletes all tokens of a user. */
export async function revokeAll(user: DocumentName, signal: AbortSignal): Promise<void> {
  let after: Json | undefined
  do {
    const page = await listTokens(user, after, () => undefined, signal)
    const refs = page.data.map(token => refOf(at(token, 'ref'))?.id ?? '')
    if (refs.length > 0) {
      await write({ do: [...refs.map(id => ({ delete: { ref: { tokens: null }, id } })), null] }, signal)
    }
    after = page.after
  } while (after !== undefined)
}
