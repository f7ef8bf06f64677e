// The one way by which documents of every kind are written: references, permission, existence, container, time,
// patch, validation, write. The kinds differ in their Resource only. Errors stand where the protocol puts them: at
// the first argument for what is created, at the call for what exists already.

import { errorEntry, type Failure, QueryError } from '../errors.ts'
import type { Version } from '../store/contract.ts'
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
import type { Call } from './definition.ts'
import { mayOnDocument, mayRead, permissionDenied } from './permissions.ts'
import { resourceOf } from './resources/kinds.ts'
import { applyPatch } from './resources/patch.ts'
import {
  type Draft,
  type FieldSpec,
  type Resource,
  valueRequired,
  type WriteMode,
} from './resources/resource.ts'
import { referenceFailures } from './resources/written-references.ts'
import { viewDocument } from './view-document.ts'
import { isAtLeast } from './wire/version.ts'

/** Creates a document in a collection, under a given id or a new one. `key` names the argument for errors. */
export function createDocument(
  collection: Ref,
  id: bigint | undefined,
  params: ObjectValue,
  call: Call,
  key: string,
): DocumentValue {
  const number = Number(collection.id)
  const resource = resourceOf(number)
  refuseReferences(params, resource, call)
  refuseForeign(collection.database, call, key)
  if (id !== undefined) refuseNegativeId(id, call, key)
  refuseOtherTime(call, key)
  const { access, transaction } = call.evaluation
  const ref =
    id === undefined
      ? newDocument(collection.database, number, call)
      : new Ref(collection.database, number, id)
  const allowed = access.allows({
    action: id === undefined ? 'create' : 'create_with_id',
    resource: collection,
    document: ref,
    asker: call,
    argument: parameters => (id === undefined || parameters === 1 ? params : [params, ref]),
  })
  if (!allowed) throw permissionDenied(call, key)
  if (id !== undefined && transaction.get(ref)) throw alreadyExists(resource, call, key)
  refuseInContainer(collection.database, resource, call, key)
  refuseNewCollection(collection, call, key)
  const base = resource.defaults?.(call) ?? new Map()
  const draft = draftOf('create', ref, undefined, base, params, resource, call)
  refuseTakenName(draft, resource, key)
  refuse(draft.failures, call, key)
  return write(draft, resource, [key])
}

/** Refuses documents in a collection made by the same transaction, as version 5 does. */
function refuseNewCollection(collection: Ref, call: Call, key: string): void {
  const { apiVersion, transaction } = call.evaluation
  if (!isAtLeast(apiVersion, '5') || isNativeCollectionRef(collection)) return
  const [oldest] = transaction.versions(collection)
  if (!(oldest?.ts instanceof TransactionTime)) return
  throw call.invalid('Cannot create a collection and a document in it in the same transaction.', key)
}

/** Changes or replaces a live document. */
export function changeDocument(
  mode: 'update' | 'replace',
  ref: Ref,
  params: ObjectValue,
  call: Call,
): DocumentValue {
  const resource = resourceOf(ref.collection)
  if (isNativeCollectionRef(ref)) throw call.invalid(`Cannot ${mode} a schema meta collection.`, mode)
  refuseReferences(params, resource, call, ref, mode)
  refuseOtherTime(call)
  const previous = existing(ref, resource, call, [mode])
  const patch = knownFields(params, resource, mode)
  const base = mode === 'update' ? previous.fields : kept(previous.fields, resource)
  const argument = (parameters: number): Value => {
    const fields = [previous.fields, applyPatch(previous.fields, patch)]
    return parameters === 3 ? [...fields, ref] : fields
  }
  if (!mayOnDocument('write', ref, call, argument)) throw permissionDenied(call)
  const draft = draftOf(mode, ref, previous, base, params, resource, call)
  refuse(draft.failures, call)
  return write(draft, resource, [])
}

/** Deletes a live document; returns it as it was. */
export function deleteDocument(ref: Ref, call: Call): DocumentValue {
  const resource = resourceOf(ref.collection)
  if (isNativeCollectionRef(ref)) throw notFound(resource, call)
  refuseForeign(ref.database, call, 'delete')
  refuseOtherTime(call)
  const previous = existing(ref, resource, call, [])
  if (!mayOnDocument('delete', ref, call)) throw permissionDenied(call)
  resource.beforeDelete?.(previous, call)
  call.placing(() => call.evaluation.transaction.delete(ref))
  return viewDocument(previous, call.evaluation)
}

/** The live version of a document to be changed. Who may not read it does not learn whether it exists. */
function existing(ref: Ref, resource: Resource, call: Call, at: readonly string[]): Version {
  const version = call.evaluation.transaction.get(ref)
  if (version) return version
  if (!mayRead(ref, call)) throw permissionDenied(call)
  throw notFound(resource, call, ...at)
}

/** The error for a document that is not there. */
export function notFound(resource: Resource, call: Call, ...at: string[]): QueryError {
  return call.error('instance not found', `${labelOf(resource, call)} not found.`, ...at)
}

function alreadyExists(resource: Resource, call: Call, key: string): QueryError {
  return call.error('instance already exists', `${labelOf(resource, call)} already exists.`, key)
}

/** Versions before 2.7 say class and instance for collection and document. */
const olderLabels: Readonly<Record<string, string>> = { Collection: 'Class', Document: 'Instance' }

function labelOf({ label }: Resource, call: Call): string {
  return isAtLeast(call.evaluation.apiVersion, '2.7') ? label : (olderLabels[label] ?? label)
}

function newDocument(database: DatabaseId, collection: CollectionId, call: Call): Ref {
  const { evaluation } = call
  const sequential = collection === native.collections || collection === native.indexes
  if (!sequential) return evaluation.newDocument(database, collection)
  return new Ref(database, collection, evaluation.transaction.nextSchemaId(database, collection))
}

/**
 * Checks the fields of a version to be written into the past, and returns how to make them: references now,
 * everything else after the caller's permission.
 */
export function draftFields(ref: Ref, params: ObjectValue, call: Call): () => ObjectValue {
  const resource = resourceOf(ref.collection)
  refuseReferences(params, resource, call)
  return () => {
    const draft = draftOf('history', ref, undefined, new Map(), params, resource, call)
    refuse(draft.failures, call)
    return draft.fields
  }
}

// ------------------------------------------------------------------------------------------ drafting

function draftOf(
  mode: WriteMode,
  ref: Ref,
  previous: Version | undefined,
  base: ObjectValue,
  params: ObjectValue,
  resource: Resource,
  call: Call,
): Draft {
  const patch = knownFields(params, resource, mode)
  const fields = applyPatch(base, storedFields(patch, resource))
  const data = fields.get('data')
  if (data instanceof Map && data.size === 0) fields.delete('data')
  const failures = fieldFailures(fields, patch, resource)
  const draft: Draft = {
    mode,
    ref,
    previous,
    patch,
    fields,
    failures,
    shown: new Map(),
    omitted: new Set(),
    call,
  }
  resource.complete?.(draft)
  return draft
}

/** Unknown fields are dropped without a word, and so are later values of what is final after creation. */
function knownFields(params: ObjectValue, resource: Resource, mode: WriteMode): ObjectValue {
  const known = new Map<string, Value>()
  for (const [name, value] of params) {
    const field = Object.hasOwn(resource.fields, name) ? resource.fields[name] : undefined
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

function kept(fields: ObjectValue, resource: Resource): ObjectValue {
  return new Map([...fields].filter(([name]) => resource.keptOnReplace.includes(name)))
}

function fieldFailures(fields: ObjectValue, patch: ObjectValue, resource: Resource): Failure[] {
  const failures: Failure[] = []
  for (const name in resource.fields) {
    const field = resource.fields[name] as FieldSpec
    const value = field.transient ? (patch.get(name) ?? undefined) : fields.get(name)
    if (value !== undefined) failures.push(...field.check(value, [name]))
    else if (field.required) failures.push(valueRequired([name]))
  }
  return failures
}

function write(draft: Draft, resource: Resource, at: readonly string[]): DocumentValue {
  const { call, fields, mode, ref } = draft
  const version = call.placing(() => call.evaluation.transaction.put(ref, fields), ...at)
  resource.written?.(draft, version)
  return viewDocument(asShown(draft, version), call.evaluation, mode === 'create')
}

/** The version as this write returns it. */
function asShown({ omitted, shown }: Draft, version: Version): Version {
  if (shown.size === 0 && omitted.size === 0) return version
  const stored = [...version.fields].filter(([name]) => !omitted.has(name))
  return { ...version, fields: new Map([...stored, ...shown]) }
}

// ------------------------------------------------------------------------------------------- refusing

/** References inside params are checked before everything else, and reported at the call. */
function refuseReferences(
  params: ObjectValue,
  resource: Resource,
  call: Call,
  target?: Ref,
  key?: string,
): void {
  const failures = referenceFailures(params, call.position().map(String), call, resource.strictReferences)
  const errors = failures.length > 0 ? [validationFailed(failures, call)] : []
  const foreign = target && target.database !== call.evaluation.database
  if (foreign)
    errors.unshift(errorEntry('invalid argument', 'Cannot write a scoped ref.', call.position(key as string)))
  if (errors.length > 0) throw new QueryError(errors)
}

function refuseForeign(database: DatabaseId, call: Call, key: string): void {
  if (database !== call.evaluation.database) throw call.invalid('Cannot write a scoped ref.', key)
}

function refuseInContainer(database: DatabaseId, resource: Resource, call: Call, key: string): void {
  if (resource.allowedInContainer || !call.evaluation.transaction.catalogue.database(database)?.container)
    return
  throw call.error('invalid object in container', 'Object is not allowed in a container', key)
}

/** References may hold a negative id, which names nothing: documents are numbered from 0. */
export function refuseNegativeId(id: bigint, call: Call, ...at: string[]): void {
  if (id < 0n) throw call.invalid(`The id provided is too small: '${id}'`, ...at)
}

/** Writes happen now; under `at` another time they are refused. */
export function refuseOtherTime(call: Call, ...at: string[]): void {
  if (call.evaluation.validTime === undefined) return
  throw call.error('invalid write time', 'Cannot write outside of snapshot time.', ...at)
}

function refuseTakenName({ call, failures, fields, ref }: Draft, resource: Resource, key: string): void {
  const name = fields.get('name')
  if (failures.length > 0 || typeof name !== 'string' || ref.collection >= firstUserCollection) return
  if (call.evaluation.transaction.catalogue.resolve(ref.database, ref.collection, name)) {
    throw alreadyExists(resource, call, key)
  }
}

function refuse(failures: readonly Failure[], call: Call, ...at: string[]): void {
  if (failures.length > 0) throw new QueryError([validationFailed(failures, call, ...at)])
}

/** The one error that lists everything wrong with a written document. */
export function validationFailed(failures: readonly Failure[], call: Call, ...at: string[]) {
  const distinct = [...new Map(failures.map(each => [JSON.stringify(each), each])).values()]
  const noun = isAtLeast(call.evaluation.apiVersion, '2.7') ? 'document' : 'instance'
  const description = `${noun} data is not valid.`
  return errorEntry('validation failed', description, call.position(...at), { failures: distinct })
}
