// Functions that return references: to schema objects by name, and to documents by collection and id. Also functions
// that return new ids.

import { msg } from '../../base/message.ts'
import { parseId } from '../../values/names.ts'
import {
  native,
  nativeOfKind,
  type Ref,
  type SchemaKind,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { anyValue, databaseRef, nullArgument, string } from '../arguments.ts'
import {
  type ArgumentType,
  type Call,
  define,
  family,
  type Lifetime,
  mismatch,
  optional,
  undefinedReference,
} from '../definition.ts'
import { documentRef, resolveName } from '../references.ts'
import { typeName } from '../values/tagged.ts'

/** If the query omits `scope`, the object is in the database of the request. */
function byName(name: string, kind: SchemaKind, what: string, lifetime: Lifetime = {}) {
  return define({
    ...lifetime,
    arguments: { [name]: string, scope: optional(databaseRef) } as Readonly<
      Record<string, ArgumentType<unknown>>
    >,
    result: 'Ref',
    summary: `Returns a reference to the ${what} with the name \`${name}\` in the database \`scope\`, or in the database of the query if \`scope\` is missing. If the ${what} does not exist, the reference is unresolved: \`exists\` returns false, and reads fail.`,
    example: [
      `{"${name}": "unknown_one"}`,
      `{"@ref": {"id": "unknown_one", "collection": {"@ref": {"id": "${nativeOfKind[kind]}"}}}}`,
    ],
    evaluate: (args, call) =>
      resolveName(kind, args[name] as string, args.scope as Ref | undefined, call.session),
  })
}

/** Parses the id of a document: an integer or a string of digits. */
function idOf(id: Value, call: Call): bigint {
  if (typeof id === 'bigint') return id
  if (typeof id !== 'string')
    throw call.invalid(msg`String or Number expected, ${typeName(id)} provided.`, 'id')
  const parsed = parseId(id)
  if (parsed === 'not numeric') {
    throw call.invalid(msg`Number or numeric String expected, non-numeric '${id}' provided.`, 'id')
  }
  if (parsed === 'too large') throw call.invalid(msg`The id provided is too large: '${id}'`, 'id')
  return parsed
}

/** Accepts references to collections whose documents have numeric ids, and unresolved references to collections. */
const documentCollection = {
  mode: 'value',
  name: 'Collection Ref',
  check(value: Value, call: Call, key: string): Ref | UnresolvedRef {
    if (value instanceof UnresolvedRef) {
      if (typeName(value) === 'Collection Ref') return value
      throw undefinedReference(value, call, key)
    }
    if (typeName(value) !== 'Collection Ref') throw mismatch('Collection Ref', value, call, key)
    const ref = value as Ref
    if (ref.id < BigInt(native.keys)) {
      throw call.invalid(msg`Regular Class Ref expected, Schema Class Ref provided.`, key)
    }
    return ref
  },
} as const

export const references = family('References', [
  byName('database', 'database', 'database'),
  byName('collection', 'collection', 'collection'),
  byName('class', 'collection', 'collection', { deprecatedFor: 'collection' }),
  byName('index', 'index', 'index'),
  byName('function', 'function', 'user function'),
  byName('role', 'role', 'role'),
  byName('access_provider', 'access_provider', 'access provider', { since: '4' }),
  define({
    arguments: { ref: documentCollection, id: anyValue, scope: optional(databaseRef) },
    result: 'Ref',
    summary:
      'Returns a reference to the document with the id `id` in the collection `ref`. The document need not exist.',
    example: [
      '{"ref": {"tokens": null}, "id": "42"}',
      '{"@ref": {"id": "42", "collection": {"@ref": {"id": "tokens"}}}}',
    ],
    evaluate: (args, call) => documentRef(args.ref, idOf(args.id, call)),
  }),
  ...['new_id', 'next_id'].map(name =>
    define({
      effect: 'write',
      ...(name === 'next_id' && { deprecatedFor: 'new_id' }),
      arguments: { [name]: nullArgument },
      result: 'String',
      summary: 'Returns a new id, which is larger than all earlier ids.',
      example: [`{"is_string": {"${name}": null}}`, 'true'],
      evaluate: (_args, call) => String(call.session.newId()),
    }),
  ),
])
