// Reads and changes schema objects, keys, tokens and credentials: documents in native collections.

import { at, type Json, type Query } from '../wire/json.ts'
import { type Native, namedFunctions, nativeRef, schemaRef } from '../wire/refs.ts'
import { deleteChecked, type SaveOutcome, writeChecked } from './checked-writes.ts'
import { asPage, type Cursor, mapping, type Page, pageOf, read, variable, write } from './data.ts'

export async function listSchema(
  native: Native,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Page> {
  // The function `Documents` lists only the tokens and credentials that the caller may read. In every other native
  // collection, a caller may read all documents or none.
  const isPersonal = native === 'tokens' || native === 'credentials'
  const set = isPersonal ? { documents: nativeRef(native) } : nativeRef(native)
  const query = mapping(pageOf(set, size, cursor), { get: variable() })
  return asPage((await read(query, signal)).value)
}

/** Names per request. */
const namesAtOnce = 1000
/** The maximum number of results of a search. */
const foundMax = 100

/** Documents have names instead of numeric ids. */
export function isNamed(native: Native): boolean {
  return namedFunctions[native] !== undefined
}

export async function allNames(native: Native, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = []
  let after: Json | undefined
  do {
    const refs = pageOf(nativeRef(native), namesAtOnce, { after })
    const page = asPage((await read(mapping(refs, { select: 'id', from: variable() }), signal)).value)
    names.push(...page.data.map(String))
    after = page.after
  } while (after !== undefined)
  return names
}

/** Finds objects whose names contain a text, ignoring case, and scans names until it has {@link foundMax} results. */
export async function searchSchema(native: Native, text: string, signal: AbortSignal) {
  const name: Query = { lowercase: { select: 'id', from: variable() } }
  const matches: Query = { lambda: 'element', expr: { containsstr: name, search: text.toLowerCase() } }
  const data: Json[] = []
  let after: Json | undefined
  do {
    const page = pageOf(nativeRef(native), namesAtOnce, { after })
    const found = mapping({ filter: matches, collection: page }, { get: variable() })
    const { data: documents, after: next } = asPage((await read(found, signal)).value)
    data.push(...documents)
    after = next
  } while (after !== undefined && data.length <= foundMax)
  return { data: data.slice(0, foundMax), isMore: after !== undefined || data.length > foundMax }
}

export async function readSchema(native: Native, id: string, signal: AbortSignal): Promise<Json> {
  return (await read({ get: schemaRef(native, id) }, signal)).value
}

/** Succeeds only if the document has not changed since `before` was read. */
export async function saveFields(
  native: Native,
  id: string,
  before: Json,
  changes: ReadonlyMap<string, Query> | Readonly<Record<string, Query>>,
  signal: AbortSignal,
): Promise<SaveOutcome<Json>> {
  const ref = schemaRef(native, id)
  const update: Query = { update: ref, params: { object: changes as Query } }
  const outcome = await writeChecked(ref, at(before, 'ts') ?? null, update, signal)
  if (outcome.kind === 'done') return { kind: 'saved', version: outcome.value }
  return outcome.kind === 'changed' ? { kind: 'conflict', theirs: outcome.theirs } : outcome
}

/** Returns the document, with its secret if it has one. */
export async function createSchema(native: Native, params: Query, signal: AbortSignal): Promise<Json> {
  const form = native === 'keys' ? 'key' : namedFunctions[native]
  return (await write({ [`create_${form}`]: params }, signal)).value
}

/** Throws `ChangedError` if the document has changed since `readAt`. */
export async function deleteSchema(
  native: Native,
  id: string,
  readAt: Json | undefined,
  signal: AbortSignal,
): Promise<void> {
  await deleteChecked(schemaRef(native, id), readAt ?? null, signal)
}
