// Writes all kinds of documents in the same steps: check references, permission and existence; merge the written fields
// with the stored fields; validate; store. A {@link Resource} contains the rules for a kind of document. Errors about
// the fields of a new document refer to the target of the call, and of a changed document to the whole call.

import { micros, nearestMicros } from '../base/micros.ts'
import type { Version } from '../storage/store/store-contract.ts'
import { microsOfTime } from '../values/time.ts'
import {
  type CollectionId,
  type DatabaseId,
  type DocumentValue,
  firstUserCollection,
  isNativeCollectionRef,
  native,
  type ObjectValue,
  Ref,
  type Time,
  TransactionTime,
  type Value,
} from '../values/value.ts'
import { applied, Failure, type FailurePlace, type Fault, type FieldFailure } from './failure.ts'
import { mayOnDocument, mayRead, permissionDenied } from './permissions.ts'
import { isUserDocument } from './read.ts'
import { resourceOf } from './resources/kinds.ts'
import { applyPatch } from './resources/patch.ts'
import {
  type Draft,
  type FieldSpec,
  failure,
  type Resource,
  type WriteMode,
  type WriteRules,
} from './resources/resource.ts'
import { referenceFailures } from './resources/written-references.ts'
import { isStaged } from './schema/schema-files.ts'
import type { Session } from './session.ts'
import { viewDocument } from './view-document.ts'

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
  refuse(draft, 'target')
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
  const base = mode === 'update' ? previous.fields : kept(previous.fields, resource, rules)
  const argument = (parameters: number): Value => {
    const fields = [previous.fields, applyPatch(previous.fields, patch, rules.keepsEmpty)]
    return parameters === 3 ? [...fields, ref] : fields
  }
  const next = () => applyPatch(base, patch, rules.keepsEmpty)
  if (!mayOnDocument('write', ref, session, argument, next)) throw permissionDenied()
  rules.check?.()
  rejectWhileStaged(ref.collection, session)
  const draft = draftOf(mode, ref, previous, base, params, resource, session, rules)
  refuse(draft)
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
  applied(() => session.transaction.delete(ref), 'call')
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

/** Moves all content, too. Returns the document of the database in the new parent. */
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
  return applied(() => transaction.moveDatabase(source, target.id), 'call')
}

// -------------------------------------------------------------------------------------------- drafts

function draftOf(
  mode: WriteMode,
  ref: Ref,
  previous: Version | undefined,
  base: ObjectValue,
  params: ObjectValue,
  resource: Resource,
  session: Session,
  rules: WriteRules = {},
): Draft {
  const patch = knownFields(params, resource, mode, rules)
  const fields = applyPatch(base, storedFields(patch, resource), rules.keepsEmpty)
  const data = fields.get('data')
  if (data instanceof Map && data.size === 0 && !rules.keepsEmpty) fields.delete('data')
  rules.normalize?.(fields)
  const failures = fieldFailures(fields, patch, resource)
  const draft: Draft = {
    mode,
    ref,
    previous,
    patch,
    fields,
    failures,
    typeFailures: [],
    shown: new Map(),
    omitted: new Set(),
    session,
    rules,
  }
  resource.complete?.(draft)
  return draft
}

/**
 * Removes unknown fields, fields that only other languages write and, for updates and replacements, `createOnly`
 * fields.
 */
function knownFields(
  params: ObjectValue,
  resource: Resource,
  mode: WriteMode,
  rules: WriteRules,
): ObjectValue {
  const known = new Map<string, Value>()
  for (const [name, value] of params) {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined
    if (field?.schemaOnly && !rules.writesSchema) continue
    if (field && (mode === 'create' || !field.createOnly)) known.set(name, value)
  }
  return known
}

function storedFields(patch: ObjectValue, resource: Resource): ObjectValue {
  let stored: Map<string, Value> | undefined
  for (const name of patch.keys()) {
    if (!resource.fields[name]?.transient) continue
    stored ??= new Map(patch)
    stored.delete(name)
  }
  return stored ?? patch
}

function kept(fields: ObjectValue, resource: Resource, rules: WriteRules): ObjectValue {
  const isPreserved = (name: string) => {
    const field = resource.fields[name]
    if (rules.replacesAllFields && field !== undefined && !field.createOnly) return false
    if (resource.preservedOnReplace?.includes(name)) return true
    return !rules.writesSchema && field?.schemaOnly === true
  }
  return new Map([...fields].filter(([name]) => isPreserved(name)))
}

function fieldFailures(fields: ObjectValue, patch: ObjectValue, resource: Resource): FieldFailure[] {
  const failures: FieldFailure[] = []
  for (const name in resource.fields) {
    const field = resource.fields[name] as FieldSpec
    const value = field.transient ? (patch.get(name) ?? undefined) : fields.get(name)
    if (value !== undefined) failures.push(...(field.check?.(value, [name]) ?? []))
    else if (field.required) failures.push(failure([name], { kind: 'required' }))
  }
  return failures
}

function write(draft: Draft, resource: Resource, place: FailurePlace): DocumentValue {
  const { fields, mode, ref, session } = draft
  const version = applied(() => session.transaction.put(ref, fields), place)
  resource.written?.(draft, version)
  return viewDocument(asShown(draft, version), session, mode === 'create')
}

/** Returns the version for the response: without `omitted` fields, and with `shown` fields. */
function asShown({ omitted, shown }: Draft, version: Version): Version {
  if (shown.size === 0 && omitted.size === 0) return version
  const stored = [...version.fields].filter(([name]) => !omitted.has(name))
  return { ...version, fields: new Map([...stored, ...shown]) }
}

// --------------------------------------------------------------------------------------------- checks

/** Rejects invalid references in `params`, and a `target` in another database. */
function rejectReferences(params: ObjectValue, resource: Resource, session: Session, target?: Ref): void {
  const failures = referenceFailures(params, session, resource.strictReferences === true)
  const isForeign = target !== undefined && target.database !== session.database
  if (!isForeign && failures.length === 0) return
  const faults: (Fault & { readonly place: FailurePlace })[] = []
  if (isForeign) faults.push({ kind: 'other database', place: 'target' })
  if (failures.length > 0) faults.push({ kind: 'invalid fields', failures, place: 'call' })
  throw new Failure(faults)
}

function rejectForeign(database: DatabaseId, session: Session): void {
  if (database !== session.database) throw Failure.of({ kind: 'other database' }, 'target')
}

/** The collections of definitions that cannot change while a schema is staged. */
const definitions: ReadonlySet<CollectionId> = new Set([
  native.collections,
  native.indexes,
  native.functions,
  native.roles,
  native.access_providers,
])

/**
 * Only version 4 returns this error, because version 10 changes the staged schema instead. The hosted service had the
 * same rule.
 */
function rejectWhileStaged(collection: CollectionId, session: Session): void {
  if (definitions.has(collection) && isStaged(session)) throw Failure.of({ kind: 'staged schema' })
}

function rejectInContainer(database: DatabaseId, resource: Resource, { transaction }: Session): void {
  if (resource.allowedInContainer || !transaction.catalogue.database(database)?.container) return
  throw Failure.of({ kind: 'in container' }, 'target')
}

/** References may contain negative ids, but ids of documents are at least 0. */
function rejectNegativeId(id: bigint, place: FailurePlace = 'call'): void {
  if (id < 0n) throw Failure.of({ kind: 'negative id', id }, place)
}

/** Rejects writes inside `at`. */
export function rejectOtherTime(session: Session, place: FailurePlace = 'call'): void {
  if (session.validTime !== undefined) throw Failure.of({ kind: 'other time' }, place)
}

function rejectExistingName({ failures, fields, ref, session }: Draft): void {
  const name = fields.get('name')
  if (failures.length > 0 || typeof name !== 'string' || ref.collection >= firstUserCollection) return
  if (session.transaction.catalogue.resolve(ref.database, ref.collection, name))
    throw Failure.of({ kind: 'exists', ref }, 'target')
}

function refuse({ failures, typeFailures }: Draft, place: FailurePlace = 'call'): void {
  const faults: (Fault & { readonly place: FailurePlace })[] = []
  if (failures.length > 0) faults.push({ kind: 'invalid fields', failures, place })
  if (typeFailures.length > 0) faults.push({ kind: 'mistyped', failures: typeFailures, place })
  if (faults.length > 0) throw new Failure(faults)
}

export type HistoryAction = 'create' | 'update' | 'delete'

/** The version contains only the fields in `params`, and no fields of previous versions. */
export function insertVersion(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  params: ObjectValue,
  session: Session,
): Version {
  const { transaction } = session
  const time = Number(microsOfTime(ts))
  // Times are stored as numbers of microseconds, which are exact from the year 1684 on.
  if (time > transaction.snapshotTime || time < Number.MIN_SAFE_INTEGER) {
    throw Failure.of({ kind: 'other time' })
  }
  rejectForeign(ref.database, session)
  rejectNegativeId(ref.id)
  const resource = resourceOf(ref.collection)
  rejectReferences(params, resource, session)
  if (!isUserDocument(ref) && ref.collection !== native.keys) {
    throw Failure.of({ kind: 'fixed history', action: 'insert' })
  }
  rejectUnlessAllowed(ref, ts, action, params, session)
  if (action === 'delete')
    return applied(() => transaction.insertVersion(ref, micros(time), undefined), 'call')
  const draft = draftOf('history', ref, undefined, new Map(), params, resource, session)
  refuse(draft)
  return applied(() => transaction.insertVersion(ref, micros(time), draft.fields), 'call')
}

/** `ts` must match exactly. Ignores a missing version. */
export function removeVersion(ref: Ref, ts: Time, action: HistoryAction, session: Session): null {
  const { transaction } = session
  const time = nearestMicros(Number(microsOfTime(ts)))
  rejectForeign(ref.database, session)
  if (!isUserDocument(ref)) throw Failure.of({ kind: 'fixed history', action: 'remove' })
  const [valid] = transaction.versions(ref, { reverse: true, notAfter: time })
  const stored = valid?.ts === time ? valid : undefined
  rejectUnlessAllowed(ref, ts, action, stored?.fields ?? new Map(), session)
  applied(() => transaction.removeVersion(ref, time, action === 'delete' ? 'delete' : 'create'), 'call')
  return null
}

function rejectUnlessAllowed(
  ref: Ref,
  ts: Time,
  action: HistoryAction,
  fields: ObjectValue,
  session: Session,
): void {
  if (!mayOnDocument('history_write', ref, session, () => [ref, ts, action, fields])) throw permissionDenied()
}
