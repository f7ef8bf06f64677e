// Databases. A database holds its own schema and documents; its children are documents in it.

import type { QueryError } from '../../errors.ts'
import { encodeGlobalId } from '../../values/global-id.ts'
import { native, type Ref } from '../../values/value.ts'
import { flag, map, name, priority } from './fields.ts'
import { type Draft, failure, type Resource } from './resource.ts'

/** Child databases. */
export const databaseResource: Resource = {
  label: 'Database',
  fields: {
    name: { check: name, required: true },
    data: { check: map },
    priority: { check: priority },
    container: { check: flag },
    protected: { check: flag },
    typechecked: { check: flag },
  },
  keptOnReplace: ['name', 'global_id'],
  strictReferences: true,
  allowedInContainer: true,
  complete(draft) {
    // The id of the document is the identity of the database: both stay forever, wherever it is moved.
    draft.fields.set('global_id', encodeGlobalId(draft.ref.id))
    refuseFullContainer(draft)
  },
}

/** A database that already holds schema or data cannot become a container. */
function refuseFullContainer({ call, failures, fields, previous, ref }: Draft): void {
  const becomes = fields.get('container') === true && previous && previous.fields.get('container') !== true
  if (!becomes) return
  const { transaction } = call.evaluation
  const kinds = [native.collections, native.indexes, native.functions]
  const filled = kinds.some(kind => {
    for (const _ of transaction.documents(ref.id, kind, {})) return true
    return false
  })
  if (!filled) return
  const text = 'cannot make database a container while it contains collections, indexes, or user functions'
  failures.push(failure([], 'container candidate contains data', text))
}

/** The error for a change that would make data disappear from a database in protected mode. */
export function destructive(change: string, call: Draft['call']): QueryError {
  const reason = 'destructive change forbidden because database is in protected mode.'
  return call.error('schema validation failed', `${change}: ${reason}`)
}

/** Whether the database, or one it lies in, is in protected mode. */
export function isProtected(database: Ref['database'], call: Draft['call']): boolean {
  const { catalogue } = call.evaluation.transaction
  for (let found = catalogue.database(database); found; found = catalogue.database(found.parent)) {
    if (found.protected) return true
  }
  return false
}
