// Reads the definitions of databases and collections from their stored documents. The higher layer validates
// definitions when they are written, so reading is tolerant: an invalid field gets its default.

import type { Value } from '../../values/value.ts'
import type { CollectionDefinition, DatabaseDefinition, Version } from './store-contract.ts'

/** The hidden field of a collection document with the stored lower bound of its history, in microseconds. */
export const historyFloorField = 'min_valid_time'

/** The hidden field of a collection document with the changes of the shape of its documents: a list of steps. */
export const migrationField = 'internal_migrations'

/** The field of a step with its schema time, in microseconds. */
export const stepTimeField = 'at'

/** A collection as the store itself needs it. */
export interface StoredCollection extends CollectionDefinition {
  /** In microseconds. The history before this time was dropped by a write of the collection. */
  readonly historyFloor: number
  /** The steps that migrate documents to the present shape; undefined without steps. */
  readonly migration: Value | undefined
}

/** The definition in a database's document. */
export function databaseDefinition(version: Version): DatabaseDefinition {
  const { ref, fields } = version
  return {
    id: ref.id,
    ref,
    name: text(fields.get('name')),
    parent: ref.database,
    container: fields.get('container') === true,
    protected: fields.get('protected') === true,
  }
}

/** The definition in a collection's document. */
export function collectionDefinition(version: Version): StoredCollection {
  const { ref, fields } = version
  return {
    ref,
    name: text(fields.get('name')),
    historyDays: days(fields.get('history_days')),
    ttlDays: days(fields.get('ttl_days')),
    historyFloor: days(fields.get(historyFloorField)) ?? 0,
    migration: fields.get(migrationField),
  }
}

function text(stored: Value | undefined): string {
  return typeof stored === 'string' ? stored : ''
}

function days(stored: Value | undefined): number | undefined {
  return typeof stored === 'bigint' ? Number(stored) : undefined
}
