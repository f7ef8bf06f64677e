// Writes all kinds of documents in the same steps: check references, permission and existence; merge the written fields
// with the stored fields; validate; store. A {@link Resource} contains the rules for a kind of document. Errors about
// the fields of a new document refer to the target of the call; errors about its references and about the fields of a
// changed document refer to the whole call.

import type { Version } from '../storage/store/store-contract.ts'
import {
  type CollectionId,
  type DatabaseId,
  type DocumentValue,
  firstUserCollection,
  isNativeCollectionRef,
  native,
  type ObjectValue,
  Ref,
  TransactionTime,
  type Value,
} from '../values/value.ts'
import { draftOf, knownFields, preservedFields, throwFailures } from './draft.ts'
import { applyWrite, Failure, type FailurePlace } from './failure.ts'
import { mayOnDocument, mayRead, permissionDenied } from './permissions.ts'
import { resourceOf } from './resources/kinds.ts'
import { applyPatch } from './resources/patch.ts'
import type { Draft, Resource, WriteRules } from './resources/resource.ts'
import type { Session } from './session.ts'
import { viewDocument } from './view-document.ts'
import {
  rejectForeign,
  rejectInContainer,
  rejectNegativeId,
  rejectOtherTime,
  rejectReferences,
  rejectWhileStaged,
} from './write-checks.ts'

/** Creates a document in a collection, with the given id or a new id. */
export function createDocument(
  collection: Ref,
  id: bigint | undefined,
  params: ObjectValue,
  session: Session,
  rules: WriteRules = {},
): DocumentValue {
  const number = Number(collection.id)
  const resource = resourceOf(number)
  rejectReferences(params, resource, session)
  rejectForeign(collection.database, session)
  if (id !== undefined) rejectNegativeId(id, 'target')
  rejectOtherTime(session, 'target')
  const { access, transaction } = session
  const ref =
    id === undefined
      ? newDocument(collection.database, number, session)
      : new Ref(collection.database, number, id)
  const request = { resource: collection, document: ref } as const
  const mayCreate = () => access.allows({ ...request, action: 'create', argument: () => params })
  const mayTakeId = () =>
    access.allows({
      ...request,
      action: 'create_with_id',
      argument: parameters => (parameters === 1 ? params : [params, ref]),
    })
  const needsBoth = rules.idNeedsCreate === true
  const allowed = id === undefined ? mayCreate() : mayTakeId() && (!needsBoth || mayCreate())
  if (!allowed) throw permissionDenied('target')
  if (id !== undefined && transaction.get(ref)) throw Failure.of({ kind: 'exists', ref }, 'target')
  rules.check?.()
  rejectWhileStaged(number, session)
  rejectInContainer(collection.database, resource, session)
  if (rules.rejectsNewCollections) rejectNewCollection(collection, session)
  const base = resource.defaults?.(session, rules) ?? new Map()
  const draft = draftOf('create', ref, undefined, base, params, resource, session, rules)
  rejectExistingName(draft)
  throwFailures(draft, 'target')
  return write(draft, resource, 'target')
}

function rejectNewCollection(collection: Ref, { transaction }: Session): void {
  if (isNativeCollectionRef(collection)) return
  const [oldest] = transaction.versions(collection)
  if (oldest?.ts instanceof TransactionTime) throw Failure.of({ kind: 'new collection' }, 'target')
}

export function changeDocument(
  mode: 'update' | 'replace',
  ref: Ref,
  params: ObjectValue,
  session: Session,
  rules: WriteRules = {},
): DocumentValue {
  const resource = resourceOf(ref.collection)
  if (isNativeCollectionRef(ref)) throw Failure.of({ kind: 'built-in collection', mode }, 'target')
  rejectReferences(params, resource, session, ref)
  rejectOtherTime(session)
  const previous = existing(ref, session, 'target')
  const patch = knownFields(params, resource, mode, rules)
  const base = mode === 'update' ? previous.fields : preservedFields(previous.fields, resource, rules)
  const argument = (parameters: number): Value => {
    const fields = [previous.fields, applyPatch(previous.fields, patch, rules.keepsEmpty)]
    return parameters === 3 ? [...fields, ref] : fields
  }
  const next = () => applyPatch(base, patch, rules.keepsEmpty)
  if (!mayOnDocument('write', ref, session, argument, next)) throw permissionDenied()
  rules.check?.()
  rejectWhileStaged(ref.collection, session)
  const draft = draftOf(mode, ref, previous, base, params, resource, session, rules)
  throwFailures(draft)
  return write(draft, resource, 'call')
}

/** Returns the last version. */
export function deleteDocument(ref: Ref, session: Session): DocumentValue {
  if (isNativeCollectionRef(ref)) throw Failure.of({ kind: 'not found', ref })
  rejectForeign(ref.database, session)
  rejectOtherTime(session)
  const previous = existing(ref, session, 'call')
  if (!mayOnDocument('delete', ref, session)) throw permissionDenied()
  rejectWhileStaged(ref.collection, session)
  resourceOf(ref.collection).beforeDelete?.(previous, session)
  applyWrite(() => session.transaction.delete(ref), 'call')
  return viewDocument(previous, session)
}

/**
 * For a missing document, callers without read permission get the error `permission denied`, which does not reveal
 * which documents exist.
 */
function existing(ref: Ref, session: Session, place: FailurePlace): Version {
  const version = session.transaction.get(ref)
  if (version) return version
  if (!mayRead(ref, session)) throw permissionDenied()
  throw Failure.of({ kind: 'not found', ref }, place)
}

function newDocument(database: DatabaseId, collection: CollectionId, session: Session): Ref {
  const sequential = collection === native.collections || collection === native.indexes
  if (!sequential) return session.newDocument(database, collection)
  return new Ref(database, collection, session.transaction.nextSchemaId(database, collection))
}

/** Moves a database with all its content. Returns the document of the database in the new parent. */
export function moveDatabase(source: Ref, target: Ref, session: Session): Version {
  rejectOtherTime(session)
  const { access, transaction } = session
  const { catalogue } = transaction
  const moved = catalogue.databaseAt(source)
  const parent = catalogue.databaseAt(target)
  if (!moved) throw Failure.of({ kind: 'not found', ref: source })
  if (!parent) throw Failure.of({ kind: 'not found', ref: target })
  // The caller needs the right to delete child databases of the query's database, even if `source` is a deeper
  // descendant.
  const resource = new Ref(session.database, native.collections, BigInt(native.databases))
  if (!access.allows({ action: 'delete', resource, document: source, argument: () => source }))
    throw permissionDenied()
  if (catalogue.lineage(target.id).some(({ ref }) => ref.id === source.id))
    throw Failure.of({ kind: 'moved into itself', database: moved.name, parent: parent.name })
  const other = catalogue.resolve(target.id, native.databases, moved.name)
  if (other) throw Failure.of({ kind: 'exists', ref: other })
  return applyWrite(() => transaction.moveDatabase(source, target.id), 'call')
}

function write(draft: Draft, resource: Resource, place: FailurePlace): DocumentValue {
  const { fields, mode, ref, session } = draft
  const version = applyWrite(() => session.transaction.put(ref, fields), place)
  resource.written?.(draft, version)
  return viewDocument(asShown(draft, version), session, mode === 'create')
}

/** Returns the version for the response: without `omitted` fields, and with `shown` fields. */
function asShown({ omitted, shown }: Draft, version: Version): Version {
  if (shown.size === 0 && omitted.size === 0) return version
  const stored = [...version.fields].filter(([name]) => !omitted.has(name))
  return { ...version, fields: new Map([...stored, ...shown]) }
}

function rejectExistingName({ failures, fields, ref, session }: Draft): void {
  const name = fields.get('name')
  if (failures.length > 0 || typeof name !== 'string' || ref.collection >= firstUserCollection) return
  if (session.transaction.catalogue.resolve(ref.database, ref.collection, name))
    throw Failure.of({ kind: 'exists', ref }, 'target')
}
