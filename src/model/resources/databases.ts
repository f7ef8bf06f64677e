// The rules for databases. A database contains a document for each child database. A *container* is a database that
// can contain only child databases, keys, roles and access providers (`Resource.allowedInContainer`).

import { checkedByDefaultField } from '../../storage/store/definitions.ts'
import { encodeGlobalId } from '../../values/names.ts'
import { native, Ref, sameRef } from '../../values/value.ts'
import { applyWrite, type DestructiveChange, Failure } from '../failure.ts'
import type { Session } from '../session.ts'
import { firstOf } from '../sets/stream.ts'
import { flag, map, name, priority } from './fields.ts'
import { type Draft, failure, type Resource } from './resource.ts'

export const databaseResource: Resource = {
  fields: {
    name: { check: name, required: true },
    data: { check: map },
    priority: { check: priority },
    container: { check: flag },
    protected: { check: flag },
    typechecked: { check: flag },
  },
  preservedOnReplace: ['name', 'global_id', checkedByDefaultField],
  strictReferences: true,
  allowedInContainer: true,
  complete(draft) {
    // A move of the database preserves the id of the document, which identifies the database, and the global id.
    draft.fields.set('global_id', encodeGlobalId(draft.ref.id))
    if (draft.previous === undefined && draft.rules.checksTypes) draft.fields.set(checkedByDefaultField, true)
    rejectFullContainer(draft)
  },
  beforeDelete: ({ ref }, session) => deleteKeysOf(ref, session),
}

/** The keys are in the parent database. */
function deleteKeysOf(ref: Ref, { transaction }: Session): void {
  const keys = Array.from(transaction.documents(ref.database, native.keys, {})).filter(({ document }) => {
    const database = transaction.get(document)?.fields.get('database')
    return database instanceof Ref && sameRef(database, ref)
  })
  for (const { document } of keys) applyWrite(() => transaction.delete(document), 'call')
}

/** A database with collections, indexes or functions cannot become a container. */
function rejectFullContainer({ session, failures, fields, previous, ref }: Draft): void {
  const becomesContainer =
    fields.get('container') === true && previous && previous.fields.get('container') !== true
  if (!becomesContainer) return
  const { transaction } = session
  const forbidden = [native.collections, native.indexes, native.functions]
  const filled = forbidden.some(
    collection => firstOf(transaction.documents(ref.id, collection, {})) !== undefined,
  )
  if (filled) failures.push(failure([], { kind: 'filled container' }))
}

/** Creates the error for a change that would remove data from a protected database. */
export function destructive(change: DestructiveChange): Failure {
  return Failure.of({ kind: 'destructive', change })
}

/** Returns whether the database or one of its ancestors is protected. */
export function isProtected(database: Ref['database'], session: Session): boolean {
  const lineage = session.transaction.catalogue.lineage(database)
  return lineage.some(definition => definition.protected)
}

/**
 * Returns whether the types of queries are checked. The field `typechecked` of the database decides, or else of its
 * nearest ancestor with this field. If no database has the field, types are checked if version 10 of the language
 * created the database, in a version of the service that checks by default.
 */
export function isTypechecked(database: Ref['database'], session: Session): boolean {
  const { catalogue } = session.transaction
  const lineage = catalogue.lineage(database)
  const flag = lineage.find(({ typechecked }) => typechecked !== undefined)?.typechecked
  return flag ?? lineage[0]?.isCheckedByDefault ?? catalogue.isRootCheckedByDefault
}
