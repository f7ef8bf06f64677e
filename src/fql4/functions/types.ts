// Functions that check the type of a value. The value may be of any type, and may be an unresolved reference.

import {
  type CollectionId,
  DocumentValue,
  isArray,
  isObject,
  Lambda,
  LocalDate,
  native,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../../values/value.ts'
import { anyValue } from '../arguments.ts'
import { family, unary } from '../definition.ts'
import { Action, EventValue, isSet, Page } from '../values/transient.ts'

/** `example` is a value for which the check is true. */
function check(name: string, what: string, example: string, accepts: (value: Value) => boolean) {
  return unary(name, anyValue, {
    result: 'Boolean',
    summary: `True if a value is ${what}.`,
    example: [example, 'true'],
    evaluate: accepts,
  })
}

/** Returns a check that accepts the documents of a native collection, and references to these documents. */
function isKind(collection: CollectionId): (value: Value) => boolean {
  return value => {
    if (value instanceof DocumentValue) return value.ref.collection === collection
    return value instanceof Ref && value.collection === collection
  }
}

function looksLikeObject(value: Value): boolean {
  if (isObject(value) || value instanceof DocumentValue) return true
  return value instanceof Page || value instanceof EventValue
}

/** In the example, the check is false, so the example needs no schema object. */
function kindCheck(name: string, what: string, collection: CollectionId) {
  return {
    ...check(name, `${what} or a reference to one`, '{"object": {}}', isKind(collection)),
    example: [`{"${name}": {"object": {}}}`, 'false'],
  } as const
}

export const types = family('Type checks', [
  check('is_null', 'null', 'null', value => value === null),
  check('is_boolean', 'a boolean', 'false', value => typeof value === 'boolean'),
  check('is_number', 'a number', '1.5', value => typeof value === 'bigint' || typeof value === 'number'),
  check('is_integer', 'an integer', '1', value => typeof value === 'bigint'),
  check('is_double', 'a double', '1.0', value => typeof value === 'number'),
  check(
    'is_string',
    'a string or the action of an event',
    '"fire"',
    value => typeof value === 'string' || value instanceof Action,
  ),
  check('is_bytes', 'binary data (bytes)', '{"@bytes": "AQID"}', value => value instanceof Uint8Array),
  check(
    'is_uuid',
    'a UUID',
    '{"@uuid": "5a1a0c5e-3e1a-4a0b-9a3f-0123456789ab"}',
    value => value instanceof Uuid,
  ),
  check('is_timestamp', 'a time', '{"now": null}', value => value instanceof Time),
  check('is_date', 'a date', '{"@date": "2024-02-28"}', value => value instanceof LocalDate),
  check('is_array', 'an array', '[]', isArray),
  check('is_object', 'an object, a document, a page or an event', '{"object": {}}', looksLikeObject),
  check(
    'is_lambda',
    'a lambda',
    '{"query": {"lambda": "x", "expr": {"var": "x"}}}',
    value => value instanceof Lambda,
  ),
  check(
    'is_ref',
    'a reference, even if its target does not exist',
    '{"index": "unknown_one"}',
    value => value instanceof Ref || value instanceof UnresolvedRef,
  ),
  check('is_set', 'a set or a native collection, which can be used as a set', '{"collections": null}', isSet),
  check(
    'is_doc',
    'a document or a reference to one',
    '{"ref": {"tokens": null}, "id": "42"}',
    value => value instanceof Ref || value instanceof DocumentValue,
  ),
  check(
    'is_collection',
    'a collection or a reference to one',
    '{"collections": null}',
    isKind(native.collections),
  ),
  check(
    'is_token',
    'a token or a reference to one',
    '{"ref": {"tokens": null}, "id": "42"}',
    isKind(native.tokens),
  ),
  check('is_key', 'a key or a reference to one', '{"ref": {"keys": null}, "id": "42"}', isKind(native.keys)),
  check(
    'is_credentials',
    'a credentials document or a reference to one',
    '{"ref": {"credentials": null}, "id": "42"}',
    isKind(native.credentials),
  ),
  kindCheck('is_database', 'a database', native.databases),
  kindCheck('is_index', 'an index', native.indexes),
  kindCheck('is_function', 'a user function', native.functions),
  kindCheck('is_role', 'a role', native.roles),
])
