// The definition of a schema object as text. This file is separate from `schema.ts`, because pages without an editor do
// not load the parser of the language.

import { type Notation, parseLiteral, printValue } from '../language.ts'
import { isMap, type Json, type Query, writeJson } from '../wire/json.ts'
import type { Native } from '../wire/refs.ts'
import type { SaveOutcome } from './checked-writes.ts'
import { saveFields } from './schema.ts'

/** Fields that the service sets. They are not part of the definition. */
const ownFields = new Set([
  'ref',
  'ts',
  'hashed_secret',
  'hashed_password',
  'global_id',
  'audience',
  'active',
])

function editable(document: Json): ReadonlyMap<string, Json> {
  const fields = isMap(document) ? [...document] : []
  return new Map(fields.filter(([name]) => !ownFields.has(name)))
}

export function definitionText(document: Json, notation: Notation): string {
  return printValue(editable(document), notation)
}

/**
 * Writes only changed fields, if the document has not changed since `before` was read. Fields that the text leaves out
 * are removed.
 */
export async function saveDefinition(
  native: Native,
  id: string,
  before: Json,
  text: string,
  notation: Notation,
  signal: AbortSignal,
): Promise<SaveOutcome<Json>> {
  const written = fieldsOf(parseLiteral(text, notation))
  const read = fieldsOf(parseLiteral(definitionText(before, notation), notation))
  const changes = new Map<string, Json>()
  for (const [name, value] of written) {
    const was = read.get(name)
    if (was === undefined || writeJson(was) !== writeJson(value)) changes.set(name, value)
  }
  for (const name of read.keys()) if (!written.has(name)) changes.set(name, null)
  return saveFields(native, id, before, changes, signal)
}

/** Returns the fields of an object expression. Throws an Error for other expressions. */
function fieldsOf(query: Query): ReadonlyMap<string, Json> {
  const isObject = query !== null && typeof query === 'object' && !Array.isArray(query)
  const fields = query instanceof Map ? query.get('object') : isObject && 'object' in query && query.object
  if (!(fields instanceof Map)) throw new Error('The definition must be an object: { … }.')
  return fields
}
