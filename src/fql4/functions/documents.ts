// Functions that read and write documents and their history.

import { documentExists, readDocument, requireReachable } from '../../model/read.ts'
import type { WriteRules } from '../../model/resources/resource.ts'
import { viewDocument } from '../../model/view-document.ts'
import { changeDocument, createDocument, deleteDocument } from '../../model/write.ts'
import { rejectOtherTime } from '../../model/write-checks.ts'
import { type HistoryAction, insertVersion, removeVersion } from '../../model/write-history.ts'
import { isNativeCollectionRef, native, Ref, UnresolvedRef, type Value } from '../../values/value.ts'
import { anyValue, identifier, nameOrRef, object, ref, time, transactionTime } from '../arguments.ts'
import {
  type Call,
  define,
  family,
  mismatch,
  optional,
  supportsVersion,
  undefinedReference,
} from '../definition.ts'
import { resolveName } from '../references.ts'
import { existsInSet, getFromSet } from '../sets/read.ts'
import { Action, EventValue, isSet, type SetLike, SetValue } from '../values/transient.ts'
import { atTime } from './basic.ts'

/** From API version 5 on, a query that creates a collection cannot create documents in this collection. */
export function creationRules({ session }: Call): WriteRules {
  return { rejectsNewCollections: supportsVersion(session, '5') }
}

/** Reads the document of a reference, or of a set's first element, as of the valid time of the session. */
function getDocument(target: SetLike, call: Call): Value {
  if (isSet(target)) return getFromSet(target, call, 'get')
  const document = target as Ref
  requireReachable(document, call.session)
  return viewDocument(readDocument(document, call.session), call.session)
}

/** Resolves the target of `create`: a collection, or the reference of the new document. */
function creationTarget(target: string | Ref, call: Call): { collection: Ref; id: bigint | undefined } {
  if (target instanceof Ref) {
    if (target.collection === native.collections) return { collection: target, id: undefined }
    const collection = new Ref(target.database, native.collections, BigInt(target.collection))
    return { collection, id: target.id }
  }
  const resolved = resolveName('collection', target, undefined, call.session)
  if (resolved instanceof Ref && !isNativeCollectionRef(resolved))
    return { collection: resolved, id: undefined }
  throw undefinedReference(new UnresolvedRef({ type: 'collection', name: target }), call, 'create')
}

/** The action of a history event, as a string or as an action value. */
const historyAction = {
  mode: 'value',
  name: 'Action',
  check(value: Value, call: Call, key: string): HistoryAction {
    const name = value instanceof Action ? value.name : value
    if (name === 'create' || name === 'update' || name === 'delete') return name
    throw mismatch("String 'create', 'update', or 'delete'", value, call, key)
  },
} as const

export const documents = family('Documents', [
  define({
    effect: 'read',
    arguments: { get: identifier, ts: optional(transactionTime) },
    result: 'Document',
    summary:
      'Reads the document of a reference, or of the first element of a set, as of the time `ts` if given. A missing document is an error.',
    example: ['{"select": "name", "from": {"get": {"collection": "spells"}}}', '"spells"'],
    evaluate: (args, call) => atTime(args.ts, call, () => getDocument(args.get, call)),
  }),
  define({
    effect: 'read',
    arguments: { exists: anyValue, ts: optional(transactionTime) },
    result: 'Boolean',
    summary:
      'True if the document of a reference exists, or a set has an element, and the caller may read it. If `ts` is given, checks the data of this time.',
    example: ['{"exists": {"collection": "spells"}}', 'true'],
    evaluate: (args, call) =>
      atTime(args.ts, call, () => {
        const target: Value = args.exists
        if (target instanceof UnresolvedRef) return false
        if (!(target instanceof Ref || target instanceof SetValue))
          throw mismatch('Ref or Set', target, call, 'exists')
        return isSet(target) ? existsInSet(target, call) : documentExists(target as Ref, call.session)
      }),
  }),
  define({
    effect: 'write',
    arguments: { create: nameOrRef, params: optional(object) },
    result: 'Document',
    summary:
      'Creates a document with the fields `params`. If `create` is a collection, the id is generated; if `create` is the reference of a document, the new document has its id.',
    example: [
      '{"select": "data", "from": {"create": {"collection": "spells"}, "params": {"object": {"data": {"object": {"element": "fire"}}}}}}',
      '{"element": "fire"}',
    ],
    evaluate(args, call) {
      const { collection, id } = creationTarget(args.create, call)
      // The check ignores the id.
      requireReachable(new Ref(collection.database, Number(collection.id), 0n), call.session)
      return createDocument(collection, id, args.params ?? new Map(), call.session, creationRules(call))
    },
  }),
  ...(['update', 'replace'] as const).map(mode =>
    define({
      effect: 'write',
      arguments: { [mode]: ref, params: optional(object) },
      result: 'Document',
      summary:
        mode === 'update'
          ? 'Merges the fields `params` into a document and returns the result. Nested objects are merged too; null removes a field.'
          : 'Replaces the fields of a document with `params` and returns the result. Fields that `params` does not contain are removed.',
      example: [
        `{"select": ["data", "element"], "from": {"${mode}": {"ref": {"collection": "spells"}, "id": "1"}, "params": {"object": {"data": {"object": {"element": "ice"}}}}}}`,
        '"ice"',
      ],
      evaluate(args, call) {
        const document = args[mode] as Ref
        const params = (args.params as ReadonlyMap<string, Value>) ?? new Map()
        requireReachable(document, call.session)
        return changeDocument(mode, document, params, call.session)
      },
    }),
  ),
  define({
    effect: 'write',
    arguments: { delete: ref },
    result: 'Document',
    summary: 'Deletes a document and returns its last version.',
    example: [
      '{"select": ["ref", "id"], "from": {"delete": {"ref": {"collection": "spells"}, "id": "1"}}}',
      '"1"',
    ],
    evaluate(args, call) {
      requireReachable(args.delete, call.session)
      return deleteDocument(args.delete, call.session)
    },
  }),
  define({
    effect: 'write',
    arguments: {
      insert: ref,
      ts: time,
      action: historyAction,
      params: optional(object),
    },
    result: 'Event',
    summary:
      'Adds a version with the fields `params`, or a deletion, to the history of a document at the past time `ts`. Fields of earlier versions are not copied.',
    example: [
      '{"select": "action", "from": {"insert": {"ref": {"collection": "spells"}, "id": "1"}, "ts": {"time_subtract": {"now": null}, "offset": 1, "unit": "day"}, "action": "create"}}',
      '"create"',
    ],
    evaluate(args, call) {
      rejectOtherTime(call.session)
      requireReachable(args.insert, call.session)
      const { action, insert: ref, params = new Map(), ts } = args
      const version = insertVersion(ref, ts, action, params, call.session)
      return new EventValue(version.ts, action === 'delete' ? 'delete' : 'create', ref, version.fields)
    },
  }),
  define({
    effect: 'write',
    arguments: { remove: ref, ts: time, action: historyAction },
    result: 'Null',
    summary:
      'Removes the version or deletion at the time `ts` from the history of a document. A missing version is ignored.',
    example: [
      '{"remove": {"ref": {"collection": "spells"}, "id": "1"}, "ts": {"now": null}, "action": "create"}',
      'null',
    ],
    evaluate(args, call) {
      rejectOtherTime(call.session)
      requireReachable(args.remove, call.session)
      return removeVersion(args.remove, args.ts, args.action, call.session)
    },
  }),
])
