// Schema objects, keys, tokens and credentials: documents in native collections, read and changed in one way.

import { type Notation, parseLiteral, printValue } from '../language.ts'
import { at, isMap, type Json, type Query } from '../wire/json.ts'
import { type Native, nativeRef, schemaRef } from '../wire/refs.ts'
import { asPage, type Cursor, mapping, type Page, pageOf, read, variable, write } from './data.ts'

/** A page of the documents of a native collection. */
export async function listSchema(
  native: Native,
  size: number,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Page> {
  // Of their own tokens and credentials everybody may see something; of the rest, all or nothing.
  const isPersonal = native === 'tokens' || native === 'credentials'
  const set = isPersonal ? { documents: nativeRef(native) } : nativeRef(native)
  const query = mapping(pageOf(set, size, cursor), { get: variable() })
  return asPage((await read(query, signal)).value)
}

/** One document of a native collection. */
export async function readSchema(native: Native, id: string, signal: AbortSignal): Promise<Json> {
  return (await read({ get: schemaRef(native, id) }, signal)).value
}

/** Fields that are not for editing: they come from the service. */
const ownFields = new Set([
  'ref',
  'ts',
  'hashed_secret',
  'hashed_password',
  'global_id',
  'audience',
  'active',
])

/** What of a document can be edited. */
function editable(document: Json): ReadonlyMap<string, Json> {
  const fields = isMap(document) ? [...document] : []
  return new Map(fields.filter(([name]) => !ownFields.has(name)))
}

/** The editable part as text. */
export function definitionText(document: Json, notation: Notation): string {
  return printValue(editable(document), notation)
}

/** The outcome of saving. */
type SchemaSaved =
  | { readonly kind: 'saved'; readonly document: Json }
  | { readonly kind: 'conflict'; readonly theirs: Json }

/**
 * Changes a document to what a text says, unless it has changed since it was read. Fields that the text leaves out are
 * taken away.
 */
export async function saveDefinition(
  native: Native,
  id: string,
  before: Json,
  text: string,
  notation: Notation,
  signal: AbortSignal,
): Promise<SchemaSaved> {
  return saveFields(native, id, before, withRemovals(before, parseLiteral(text, notation)), signal)
}

/** The written object, with null for each field that was there and is written no more. */
function withRemovals(before: Json, params: Query): Query {
  const written = fieldsOf(params)
  if (written === undefined) throw new Error('The definition has to be an object: { … }.')
  const fields = new Map(written)
  for (const name of editable(before).keys()) if (!fields.has(name)) fields.set(name, null)
  return { object: fields }
}

/** The fields of an expression that is a written object. */
function fieldsOf(query: Query): ReadonlyMap<string, Json> | undefined {
  if (query === null || typeof query !== 'object' || Array.isArray(query)) return undefined
  const fields = query instanceof Map ? query.get('object') : (query as { readonly object?: Json }).object
  return isMap(fields) ? fields : undefined
}

/** Changes some fields of a document, unless it has changed since it was read. */
export async function saveFields(
  native: Native,
  id: string,
  before: Json,
  params: Query,
  signal: AbortSignal,
): Promise<SchemaSaved> {
  const ref = schemaRef(native, id)
  const ts = at(before, 'ts') ?? null
  const { value } = await write(
    {
      if: { equals: [{ select: 'ts', from: { get: ref } }, ts] },
      then: { object: { saved: { update: ref, params } } },
      else: { object: { theirs: { get: ref } } },
    },
    signal,
  )
  const saved = at(value, 'saved')
  return saved === undefined
    ? { kind: 'conflict', theirs: at(value, 'theirs') ?? null }
    : { kind: 'saved', document: saved }
}

const createForms: Readonly<Partial<Record<Native, string>>> = {
  databases: 'create_database',
  collections: 'create_collection',
  indexes: 'create_index',
  functions: 'create_function',
  roles: 'create_role',
  keys: 'create_key',
  access_providers: 'create_access_provider',
}

/** Creates a document of a native collection. Returns it as it was answered, with its secret if it has one. */
export async function createSchema(native: Native, params: Query, signal: AbortSignal): Promise<Json> {
  const form = createForms[native]
  const query: Query = form === undefined ? { create: nativeRef(native), params } : { [form]: params }
  return (await write(query, signal)).value
}

/** Deletes a document of a native collection. */
export async function deleteSchema(native: Native, id: string, signal: AbortSignal): Promise<void> {
  await write({ select: 'ts', from: { delete: schemaRef(native, id) } }, signal)
}
