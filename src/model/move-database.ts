// Moving databases.

import type { Version } from '../storage/store/contract.ts'
import { native, Ref } from '../values/value.ts'
import { applied, Failure } from './failure.ts'
import { permissionDenied } from './permissions.ts'
import type { Session } from './session.ts'
import { refuseOtherTime } from './write.ts'

/** Puts a database with everything in it under another parent; returns its document there. */
export function moveDatabase(source: Ref, target: Ref, session: Session): Version {
  refuseOtherTime(session)
  const { access, asker, transaction } = session
  const { catalogue } = transaction
  const moved = catalogue.databaseAt(source)
  const parent = catalogue.databaseAt(target)
  if (!moved) throw Failure.of({ kind: 'not found', ref: source })
  if (!parent) throw Failure.of({ kind: 'not found', ref: target })
  // What counts for a database further down, too, is the right to delete databases here.
  const resource = new Ref(session.database, native.collections, BigInt(native.databases))
  if (!access.allows({ action: 'delete', resource, document: source, argument: () => source, asker }))
    throw permissionDenied()
  if (catalogue.lineage(target.id).some(({ ref }) => ref.id === source.id))
    throw Failure.of({ kind: 'moved into itself', database: moved.name, parent: parent.name })
  const other = catalogue.resolve(target.id, native.databases, moved.name)
  if (other) throw Failure.of({ kind: 'exists', ref: other })
  return applied(() => transaction.moveDatabase(source, target.id), 'call')
}
