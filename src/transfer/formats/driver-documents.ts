// Reads documents and schema objects in the format that drivers of version 4 print:
// `{"ref":{"@ref":…},"ts":…,"data":{…}}`. Schema objects become schema records.

import { microsOfTime } from '../../values/time.ts'
import { type Json, type ObjectValue, Time, type Value } from '../../values/value.ts'
import {
  BadRecord,
  type CreatedKind,
  credentialsName,
  type SourceDocument,
  type SourceRecord,
} from '../record.ts'
import { memberOf, nativeOf } from '../references.ts'
import { driverReference, driverValue } from './driver-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import { excerptOf } from './special-forms.ts'

export const readDriver: ReadElement = (element, context) => {
  if (!(element instanceof Map)) throw new BadRecord('no object')
  const wrapped = memberOf(element, 'ref', '@ref')
  if (wrapped === undefined) {
    const reason = element.has('@ref') ? 'a reference and not a document' : 'it has no `ref`'
    throw new BadRecord(reason)
  }
  const { target } = driverReference(wrapped)
  switch (target.type) {
    case 'document':
      return documentOf(target.collection.target, target.id, element, context)
    case 'key':
    case 'native':
      throw new BadRecord('a `ref` to something that is not a document')
    default:
      return schemaObject(target.type, target.name, element)
  }
}

function documentOf(
  collection: { readonly type: string; readonly name?: string },
  id: bigint,
  element: ReadonlyMap<string, Json>,
  { notes, origin }: ElementContext,
): SourceRecord | undefined {
  const name = collection.name ?? ''
  switch (nativeOf(name)) {
    case undefined:
      return { ...versionOf(element, id), collection: name, fields: userFields(element) }
    case 'credentials':
      return { ...versionOf(element, id), collection: credentialsName, fields: credentialFields(element) }
    case 'keys':
      return schemaObject('key', String(id), element)
    default:
      notes.lost('a token: its user logs in again', 'tokens', origin)
      return undefined
  }
}

function versionOf(
  element: ReadonlyMap<string, Json>,
  id: bigint,
): Omit<SourceDocument, 'collection' | 'fields'> {
  const json = element.get('ts') ?? undefined
  const ts = json === undefined ? undefined : driverValue(json, 'ts')
  if (ts !== undefined && typeof ts !== 'bigint' && typeof ts !== 'number' && !(ts instanceof Time))
    throw new BadRecord(`${excerptOf(json ?? null)} is not a valid time`, 'ts')
  return {
    kind: 'document',
    id,
    ts: ts === undefined ? undefined : Number(ts instanceof Time ? microsOfTime(ts) : ts),
    isHistory: false,
    isDelete: false,
  }
}

function pick(element: ReadonlyMap<string, Json>, names: readonly string[]): ObjectValue {
  const fields = new Map<string, Value>()
  for (const name of names) {
    const json = element.get(name)
    if (json !== undefined && json !== null) fields.set(name, driverValue(json, name))
  }
  return fields
}

function userFields(element: ReadonlyMap<string, Json>): ObjectValue {
  const fields = pick(element, ['data', 'ttl'])
  const data = fields.get('data')
  if (data === undefined) return fields
  if (!(data instanceof Map)) throw new BadRecord('its `data` is not an object')
  if (data.size > 0) return fields
  return new Map([...fields].filter(([name]) => name !== 'data'))
}

function credentialFields(element: ReadonlyMap<string, Json>): ObjectValue {
  const fields = pick(element, ['instance', 'hashed_password', 'ttl', 'data'])
  if (!fields.has('instance')) throw new BadRecord('credentials without an `instance`')
  return fields
}

/** Not imported: the service sets these members, or they have no meaning in other databases. */
const omittedMembers = new Set(['ref', 'ts', 'class', 'active', 'global_id', 'audience', 'secret'])

function schemaObject(object: CreatedKind, name: string, element: ReadonlyMap<string, Json>): SourceRecord {
  const params = new Map<string, Json>()
  for (const [member, json] of element)
    if (!omittedMembers.has(member) && json !== null) params.set(member, json)
  if (object !== 'key' && typeof params.get('name') !== 'string') params.set('name', name)
  return { kind: 'schema', object, name, params }
}
