// Describes the types of the fields of native documents (documents of built-in collections) in version 10, and the
// differences from the stored fields.

import { mayRead } from '../../model/permissions.ts'
import { valueTypeText } from '../../model/schema/field-types.ts'
import type { Session } from '../../model/session.ts'
import { encodeGlobalId } from '../../values/names.ts'
import {
  firstUserCollection,
  isArray,
  isObject,
  Lambda,
  native,
  type ObjectValue,
  Ref,
  type Value as StoredValue,
  Time,
  TransactionTime,
} from '../../values/value.ts'
import type { ConstraintFailure } from '../failure/query-failure.ts'
import { nativeOf } from '../library/natives.ts'
import { collectionShape } from '../schema/collection-shape.ts'
import type { Doc } from '../value.ts'

interface NativeField {
  readonly name: string
  /** The name of the field in storage, if it differs from `name`. */
  readonly stored?: string
  /** Text of the type for error messages. */
  readonly type: string
  readonly accepts: (value: StoredValue) => boolean
  readonly required?: true
  readonly readonly?: true
  readonly hidden?: true
  /** Returns the reason if the value is invalid. */
  readonly store?: (value: StoredValue, session: Session) => StoredValue | InvalidValue
  readonly show?: (value: StoredValue, session: Session) => StoredValue
}

class InvalidValue {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

const isText = (value: StoredValue) => typeof value === 'string'
const isTime = (value: StoredValue) => value instanceof Time || value instanceof TransactionTime
const isFlag = (value: StoredValue) => typeof value === 'boolean'
const isInteger = (value: StoredValue) => typeof value === 'bigint'
const anything = () => true

const name: NativeField = { name: 'name', type: 'String', accepts: isText, required: true }
const alias: NativeField = { name: 'alias', type: 'String', accepts: isText }
const data: NativeField = { name: 'data', type: '{ *: Any }', accepts: isObject }
const ttl: NativeField = { name: 'ttl', type: 'Time', accepts: isTime }
const secret: NativeField = { name: 'secret', type: 'String', accepts: isText, readonly: true }

/** Version 4 stores a reference to the role, possibly in an array, and version 10 stores the role's name. */
const role: NativeField = { name: 'role', type: 'String', accepts: isText, show: nameOfReference }

const document: NativeField = {
  name: 'document',
  stored: 'instance',
  type: 'Ref',
  accepts: anything,
  required: true,
  store: value =>
    value instanceof Ref && value.collection >= firstUserCollection
      ? value
      : new InvalidValue('Expected document from a user-defined collection.'),
}

const database: NativeField = {
  name: 'database',
  type: 'String',
  accepts: isText,
  store(value, session) {
    const found = session.transaction.catalogue.resolve(session.database, native.databases, String(value))
    // A database that the caller cannot read gives the same error as a database that does not exist.
    if (found !== undefined && mayRead(found, session)) return found
    return new InvalidValue(`Field refers to an unknown database name \`${value}\`.`)
  },
  show: nameOfReference,
}

function nameOfReference(value: StoredValue, session: Session): StoredValue {
  if (isArray(value) && value.length === 1) return nameOfReference(value[0] as StoredValue, session)
  return value instanceof Ref ? (session.transaction.catalogue.nameOf(value) ?? value) : value
}

/** In privileges and memberships, version 10 stores the names of resources, and version 4 stores references. */
function showResources(value: StoredValue, session: Session): StoredValue {
  if (isArray(value)) return value.map(item => showResources(item, session))
  if (!isObject(value)) return value
  const stored = value.get('resource')
  return stored instanceof Ref ? new Map(value).set('resource', resourceName(stored, session)) : value
}

function resourceName(ref: Ref, { transaction }: Session): StoredValue {
  if (ref.collection === native.collections && ref.id < BigInt(firstUserCollection)) {
    return nativeOf(Number(ref.id))?.module.name ?? ref
  }
  return transaction.catalogue.nameOf(ref) ?? ref
}

function showRoles(value: StoredValue, session: Session): StoredValue {
  if (isArray(value)) return value.map(item => showRoles(item, session))
  if (!isObject(value)) return nameOfReference(value, session)
  const given = value.get('role')
  return given === undefined ? value : new Map([...value, ['role', nameOfReference(given, session)]])
}

function isItems(value: StoredValue): boolean {
  return isObject(value) || (isArray(value) && value.every(isObject))
}

function isRoles(value: StoredValue): boolean {
  const isRole = (each: StoredValue) => isText(each) || isObject(each)
  return isRole(value) || (isArray(value) && value.every(isRole))
}

const fieldsOf: ReadonlyMap<number, readonly NativeField[]> = new Map([
  [native.keys, [{ ...role, required: true }, database, ttl, secret, data]],
  [native.tokens, [document, ttl, secret, data]],
  [native.credentials, [document, { name: 'password', type: 'String', accepts: isText, hidden: true }]],
  [
    native.roles,
    [
      name,
      { name: 'privileges', type: 'Array<{ *: Any }>', accepts: isItems, show: showResources },
      { name: 'membership', type: 'Array<{ *: Any }>', accepts: isItems, show: showResources },
      data,
    ],
  ],
  [
    native.functions,
    [
      name,
      alias,
      {
        name: 'body',
        type: 'String',
        accepts: value => isText(value) || value instanceof Lambda,
        required: true,
      },
      role,
      { name: 'signature', type: 'String', accepts: isText },
      data,
    ],
  ],
  [
    native.access_providers,
    [
      name,
      { name: 'issuer', type: 'String', accepts: isText, required: true },
      { name: 'jwks_uri', type: 'String', accepts: isText, required: true },
      { name: 'roles', type: 'Array<String>', accepts: isRoles, show: showRoles },
      { name: 'audience', type: 'String', accepts: isText, readonly: true },
      data,
    ],
  ],
  [
    native.databases,
    [
      name,
      { name: 'global_id', type: 'String', accepts: isText, readonly: true },
      { name: 'typechecked', type: 'Boolean', accepts: isFlag },
      { name: 'protected', type: 'Boolean', accepts: isFlag },
      { name: 'priority', type: 'Number', accepts: isInteger },
      data,
    ],
  ],
  [
    native.collections,
    // schema/collection-definition.ts checks the types of these fields.
    [...collectionShape.fields.keys()].map(
      (field): NativeField => ({ name: field, type: 'Any', accepts: anything }),
    ),
  ],
] satisfies [number, readonly NativeField[]][])

/** True if the documents of a collection are identified by names instead of ids. */
export function hasNames(collection: number): boolean {
  return collection < firstUserCollection && nativeOf(collection)?.documents.name === 'NamedDocument'
}

/** Keeps the order of the response. Omits `name`, `ttl` and the fields that every document has. */
export function shownFields(
  { ref, shown }: Doc,
  fields: ObjectValue,
  session: Session,
): readonly (readonly [string, StoredValue])[] {
  const all = shown === undefined ? fields : new Map([...fields, ...shown])
  return (fieldsOf.get(ref.collection) ?? []).flatMap(({ hidden, name: field, show, stored = field }) => {
    const value = field === 'global_id' ? encodeGlobalId(ref.id) : all.get(stored)
    if (hidden || value === undefined || field === 'ttl' || field === 'name') return []
    return [[field, show === undefined ? value : show(value, session)] as const]
  })
}

interface CheckedFields {
  readonly failures: readonly ConstraintFailure[]
  readonly stored: ObjectValue
}

/**
 * `number` is the number of the collection. `before` is the stored document; undefined for a creation. `beforeFields`
 * contains the stored fields.
 */
export function checkFields(
  number: number,
  mode: 'create' | 'update' | 'replace',
  given: ObjectValue,
  before: Doc | undefined,
  beforeFields: ObjectValue,
  session: Session,
): CheckedFields {
  const known = fieldsOf.get(number) ?? []
  const failures: ConstraintFailure[] = []
  const stored = new Map<string, StoredValue>()
  const fail = (field: string, message: string) => failures.push({ paths: [[field]], message })
  for (const [field, value] of given) {
    const spec = known.find(each => each.name === field)
    if (spec === undefined) fail(field, 'Unexpected field provided')
    else if (spec.readonly) {
      const own = before && shownFields(before, beforeFields, session).find(([each]) => each === field)
      if (own?.[1] !== value) fail(field, 'Failed to update field because it is readonly')
    } else if (value === null) stored.set(spec.stored ?? field, null)
    else if (!spec.accepts(value)) {
      const type = spec.required ? spec.type : `${spec.type} | Null`
      fail(field, `Expected ${type}, provided ${valueTypeText(value)}`)
    } else {
      const converted = spec.store?.(value, session) ?? value
      if (converted instanceof InvalidValue) fail(field, converted.message)
      else stored.set(spec.stored ?? field, converted)
    }
  }
  for (const { name: field, required, type } of known) {
    const value = given.get(field)
    const isMissing = mode === 'update' ? value === null : value === undefined || value === null
    if (required && isMissing) fail(field, `Missing required field of type ${type}`)
  }
  return { failures, stored }
}
