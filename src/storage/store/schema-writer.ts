// Writes schema objects and derived data: the version number of the schema, the parents of databases, the list of
// databases for each key id, and indexes over existing documents. When a schema object is deleted, pending work for the
// sweeper (sweeper.ts) is recorded.

import { assert } from '../../base/assert.ts'
import { step, stepsPerDefinition } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { micros } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  isArray,
  isObject,
  namedNatives,
  native,
  type ObjectValue,
  Ref,
  rootDatabase,
  TransactionTime,
  unlisted,
  type Value,
} from '../../values/value.ts'
import { buildKey, counterKey, garbageKey, keyHomeKey, schemaVersionKey } from '../keys/keyspace.ts'
import type { Journal } from '../kv/overlay.ts'
import { encodeParent, nextVersion, parentKey } from './catalogue.ts'
import { collectionDefinition, historyFloorField, migrationField, stepTimeField } from './definitions.ts'
import { addHome, decodeHomes, removeHome } from './directory.ts'
import { beginRewrite, rewriteKey } from './document-rewriter.ts'
import type { DocumentWriter } from './document-writer.ts'
import { beginBuild, buildNow, fitsOneTransaction } from './index-builder.ts'
import { covers, type IndexDefinition, indexDefinition, namedCollections } from './index-definition.ts'
import { userIndex } from './index-tables.ts'
import { decodeTime, encodeTimes } from './records.ts'
import { historyFloor } from './retention.ts'
import type { Rows } from './rows.ts'
import { type Version, WriteRejected } from './store-contract.ts'
import { recordWork } from './sweeper-work.ts'

export const schemaWriterLimits = {
  /** Maximum id of a user collection; ids are never reused. */
  userCollectionIdMax: 32_767,
  /** Id of the first index of a database; ids are never reused. */
  firstIndexId: 32_768,
  /** Maximum id of an index. A database can create 32 768 indexes in total, also if it deletes some of them. */
  indexIdMax: 65_535,
  /**
   * Maximum number of databases that have a key with the same id. A secret with this id is checked against each of
   * these keys; own limit.
   */
  keysOfOneIdMax: 16,
} as const

/** A migration step of the current transaction has a placeholder instead of a time. */
function isNewStep(step: Value): boolean {
  return isObject(step) && step.get(stepTimeField) instanceof TransactionTime
}

export class SchemaWriter {
  readonly #context: Rows
  readonly #documents: DocumentWriter

  constructor(context: Rows, documents: DocumentWriter) {
    this.#context = context
    this.#documents = documents
  }

  /** Adds the fields that only the store sets. */
  #complete(ref: Ref, fields: ObjectValue): ObjectValue {
    if (ref.collection === native.collections) return this.#withFloor(ref, fields)
    if (ref.collection === native.indexes) return this.#withActive(ref, fields)
    if (ref.collection === native.keys) this.#checkHomes(ref)
    return fields
  }

  #withFloor(ref: Ref, fields: ObjectValue): ObjectValue {
    const before = this.#documents.current(ref)
    const completed = this.#withSteps(ref, fields)
    completed.delete(historyFloorField)
    if (before === undefined) return completed
    const old = collectionDefinition(before)
    const { historyDays = Number.POSITIVE_INFINITY } = collectionDefinition({ fields: completed })
    // Until the commit, the sweeper uses the old `history_days`, and may still remove data that a greater
    // `history_days` would retain after the commit. So a floor (the earliest readable time) is stored, which makes this
    // data unreadable.
    const reachesFurther = historyDays > (old.historyDays ?? Number.POSITIVE_INFINITY)
    const { snapshot, stamp } = this.#context
    const floor = historyFloor(old, reachesFurther ? stamp() : snapshot.time)
    return floor > 0 ? completed.set(historyFloorField, BigInt(floor)) : completed
  }

  /**
   * Drops the migration steps that no stored version needs any more. If there are new steps, the rewriting of all
   * versions begins again.
   */
  #withSteps({ database, id }: Ref, fields: ObjectValue): Map<string, Value> {
    const { overlay } = this.#context
    const completed = new Map(fields)
    const steps = completed.get(migrationField)
    if (steps === undefined || !isArray(steps)) return completed
    const collection = Number(id)
    const isRewritten = overlay.get(rewriteKey(database, collection)) === undefined
    const needed = isRewritten ? steps.filter(isNewStep) : steps
    if (needed.some(isNewStep)) beginRewrite(overlay, database, collection)
    if (needed.length === 0) completed.delete(migrationField)
    else completed.set(migrationField, needed)
    return completed
  }

  /**
   * A new index is active if it covers so few documents that this transaction builds it. An active index stays active.
   */
  #withActive(ref: Ref, fields: ObjectValue): ObjectValue {
    const stored = this.#documents.pendingVersion(ref) ?? this.#documents.current(ref)
    if (stored !== undefined) {
      return stored.fields.get('active') === true ? new Map(fields).set('active', true) : fields
    }
    const definition = indexDefinition({ ref, fields })
    const { snapshot } = this.#context
    const atOnce = fitsOneTransaction(snapshot, ref.database, this.#sources(definition))
    return new Map(fields).set('active', atOnce || definition.active)
  }

  #sources(definition: IndexDefinition): readonly CollectionId[] {
    return namedCollections(definition) ?? this.#context.catalogue.collectionsOf(definition.ref.database)
  }

  /** Also writes the derived data. */
  put(ref: Ref, fields: ObjectValue): Version {
    step(stepsPerDefinition)
    if (ref.collection === native.databases) this.#checkNumber(ref)
    const isNewIndex =
      ref.collection === native.indexes &&
      this.#documents.pendingVersion(ref) === undefined &&
      this.#documents.current(ref) === undefined
    const version = this.#documents.write(ref, this.#complete(ref, fields))
    if (!isNewIndex || this.#build(ref)) return version
    return this.#documents.write(ref, new Map(version.fields).set('active', false))
  }

  /** Two databases with the same number would share their data. */
  #checkNumber({ database, id }: Ref): void {
    const parent = this.#context.overlay.get(parentKey(id))
    const isOwn = parent === undefined || Buffer.compare(parent, encodeParent(database)) === 0
    assert(id !== rootDatabase && isOwn, 'the number of a database is its own')
  }

  /**
   * If there are many documents, or if their index rows are large, they are indexed later in the background. Returns
   * false if the stored index is active, but has to be built in the background.
   */
  #build(ref: Ref): boolean {
    const { snapshot, overlay, catalogue, hooks } = this.#context
    const definition = catalogue.index(ref)
    assert(definition !== undefined, 'an index that was just written is in the catalogue')
    const collections = this.#sources(definition)
    if (!fitsOneTransaction(snapshot, ref.database, collections)) {
      beginBuild(overlay, ref)
      return true
    }
    const isConcerned = (other: Ref) =>
      other.database === ref.database && covers(definition, other.collection)
    let isBuilt = false
    this.#documents.withoutPending(isConcerned, () => {
      const tables = userIndex(definition, hooks, catalogue)
      isBuilt = buildNow(this.#context, ref.database, collections, tables)
      if (!isBuilt) beginBuild(overlay, ref)
    })
    return isBuilt
  }

  /**
   * Throws {@link WriteRejected} if too many databases have a key with the id of a new key, because a secret with this
   * id is checked against each of these keys.
   */
  #checkHomes(ref: Ref): void {
    const homes = decodeHomes(this.#context.overlay.get(keyHomeKey(ref.id)))
    if (homes.includes(ref.database) || homes.length < schemaWriterLimits.keysOfOneIdMax) return
    throw new WriteRejected('key exists')
  }

  /**
   * Updates data that is derived from a schema object. Called for every version that is added to the overlay (the
   * pending writes); ignores documents of user collections.
   */
  updateDerived(version: Version, journal: Journal): void {
    const { ref } = version
    if (ref.collection >= firstUserCollection) return
    const { overlay, catalogue, commitTime } = this.#context
    const isDelete = version.action === 'delete'
    if (namedNatives.has(ref.collection)) catalogue.dropCached(ref.database)
    switch (ref.collection) {
      case native.databases:
        if (isDelete) recordWork(overlay, 'object', commitTime, ref, journal)
        else overlay.set(parentKey(ref.id), encodeParent(ref.database), journal)
        return
      case native.keys:
        if (isDelete) removeHome(overlay, ref, journal)
        else addHome(overlay, ref, journal)
        return
      case native.indexes:
        if (!isDelete) return
        overlay.set(buildKey(ref.database, Number(ref.id)), undefined, journal)
        recordWork(overlay, 'object', commitTime, ref, journal)
        return
      case native.collections:
        if (isDelete) overlay.set(rewriteKey(ref.database, Number(ref.id)), undefined, journal)
        if (isDelete) recordWork(overlay, 'object', commitTime, ref, journal)
        else if (version.action === 'update') recordWork(overlay, 'history', commitTime, ref, journal)
        return
      case unlisted.token_revocations:
        recordWork(overlay, 'object', commitTime, ref, journal)
    }
  }

  /**
   * Objects that are deleted together with a schema object: for a collection, the indexes that cover only this
   * collection.
   */
  dependents(ref: Ref): Ref[] {
    if (ref.collection !== native.collections) return []
    const collection = Number(ref.id)
    return this.#context.catalogue
      .indexesOf(ref.database, collection)
      .filter(index => namedCollections(index)?.every(covered => covered === collection))
      .map(index => index.ref)
  }

  /** Also moves each key in `keys` that gives access to this database. */
  moveDatabase(database: Ref, parent: DatabaseId, keys: Iterable<Ref>): Version {
    const current = this.#documents.pendingVersion(database) ?? this.#documents.current(database)
    const fields = current?.fields ?? new Map()
    const moved = new Ref(parent, native.databases, database.id)
    for (const key of keys) {
      const version = this.#documents.pendingVersion(key) ?? this.#documents.current(key)
      const target = version?.fields.get('database')
      if (!(target instanceof Ref) || target.id !== database.id || version === undefined) continue
      const movedKey = new Ref(parent, native.keys, key.id)
      if (this.#documents.pendingVersion(movedKey) ?? this.#documents.current(movedKey))
        throw new WriteRejected('key exists')
      this.#documents.write(key, undefined)
      this.#documents.write(movedKey, new Map(version.fields).set('database', moved))
    }
    this.#documents.write(database, undefined)
    // The deletion of the document has recorded pending work, which is cancelled, because the database still exists.
    this.#context.overlay.set(garbageKey('object', this.#context.commitTime, database), undefined)
    return this.#documents.write(moved, fields)
  }

  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint {
    const { overlay } = this.#context
    const key = counterKey(database, nativeCollection)
    const stored = overlay.get(key)
    const { firstIndexId, indexIdMax, userCollectionIdMax } = schemaWriterLimits
    const isCollection = nativeCollection === native.collections
    const id = stored ? decodeTime(stored) + 1 : isCollection ? firstUserCollection : firstIndexId
    // Greater numbers than those of indexes identify the sets `documents(collection)`.
    if (id > (isCollection ? userCollectionIdMax : indexIdMax)) {
      throw new RequestError('bad request', msg`Maximum sequential ID reached.`)
    }
    overlay.set(key, encodeTimes(micros(id)))
    return BigInt(id)
  }

  /** Writes new version numbers for the changed schemas, which make cached schemas outdated. */
  markChanged(): void {
    const { overlay, catalogue, commitTime } = this.#context
    for (const database of catalogue.changed) {
      const key = schemaVersionKey(database)
      overlay.set(key, nextVersion(overlay.get(key), commitTime, catalogue.changesDefinitions))
    }
  }
}
