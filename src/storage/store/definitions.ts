// Reads the definitions of databases and collections from their documents. A higher layer has validated definitions
// before they are written, so reading never fails: a missing or invalid field gets its default value.

import type { Value } from '../../values/value.ts'
import type { CollectionDefinition, DatabaseDefinition, Version } from './store-contract.ts'

/** A hidden field of a collection's document: the start of the retained history, in microseconds. */
export const historyFloorField = 'min_valid_time'

/**
 * A hidden field of a collection's document: the steps that change the shape (the structure of fields) of its
 * documents.
 */
export const migrationField = 'internal_migrations'

/**
 * A hidden field of a database's document: static types are checked by default. Databases of earlier versions, and
 * databases that version 4 of the language creates, do not have this field.
 */
export const checkedByDefaultField = 'typechecked_by_default'

/** A field of a migration step: the time of the schema change that added the step, in microseconds. */
export const stepTimeField = 'at'

/** Includes the fields that only the store needs. */
export interface StoredCollection extends CollectionDefinition {
  /**
   * The start of the retained history when the collection's document was written, in microseconds. Earlier history
   * stays unreadable.
   */
  readonly historyFloor: number
  /** The steps that migrate documents to the present shape, if any. */
  readonly migration: Value | undefined
}

export function databaseDefinition(version: Version): DatabaseDefinition {
  const { ref, fields } = version
  return {
    ref,
    name: text(fields.get('name')),
    parent: ref.database,
    container: fields.get('container') === true,
    protected: fields.get('protected') === true,
    typechecked: flag(fields.get('typechecked')),
    isCheckedByDefault: fields.get(checkedByDefaultField) === true,
  }
}

export function collectionDefinition({ fields }: Pick<Version, 'fields'>): StoredCollection {
  return {
    name: text(fields.get('name')),
    historyDays: integer(fields.get('history_days')),
    ttlDays: integer(fields.get('ttl_days')),
    historyFloor: integer(fields.get(historyFloorField)) ?? 0,
    migration: fields.get(migrationField),
  }
}

function flag(stored: Value | undefined): boolean | undefined {
  return typeof stored === 'boolean' ? stored : undefined
}

function text(stored: Value | undefined): string {
  return typeof stored === 'string' ? stored : ''
}

function integer(stored: Value | undefined): number | undefined {
  return typeof stored === 'bigint' ? Number(stored) : undefined
}
