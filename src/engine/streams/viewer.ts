// Who streams speak to. Streams opened with the same rights share a viewer, so that what may be seen is decided once
// for all of them, and a credential that is lost ends them together. A viewer is lost when its key or token changes
// in any way or expires, when a role in use changes, and when its identity or a database around it is deleted.

import { endOfTime, nearestMicros } from '../../base/micros.ts'
import type { Caller } from '../../model/auth/contract.ts'
import type { Session } from '../../model/session.ts'
import type { Transaction, Version } from '../../storage/store/contract.ts'
import { microsOfTime } from '../../values/time.ts'
import {
  type DatabaseId,
  isNativeCollectionRef,
  type Micros,
  Ref,
  Time,
  type Value,
} from '../../values/value.ts'
import { ownKeyOf } from '../../values/value-keys.ts'

/** A document whose change ends something. */
export interface Condition {
  readonly document: Ref
  /** Updates do no harm. */
  readonly onDeleteOnly: boolean
}

/** What a viewer is made of. */
export interface ViewerTerms {
  /** Different for callers that differ in anything that counts. */
  readonly key: string
  readonly caller: Caller
  /** The newest commit when it was made: what happened until then is taken into account. */
  readonly since: Micros
  /** When the credential ends by itself; `Infinity` for never. */
  readonly expires: Micros
  readonly conditions: readonly Condition[]
}

/** The viewer that the caller of a session is to. */
export function viewerTerms({ caller, transaction }: Session): ViewerTerms {
  const { authority, credential, identity } = caller
  const document = credential instanceof Ref ? transaction.get(credential) : undefined
  const roles = authority.kind === 'roles' ? authority.roles : []
  const revisions = [...roles.map(role => transaction.get(role)), document].map(revisionOf)
  const rights: readonly Value[] =
    authority.kind === 'roles'
      ? [...roles, authority.identity ?? null]
      : [authority.kind === 'builtin' ? authority.role : authority.kind]
  const parts = [caller.database, authority.database, rights, identity ?? null, credential ?? null, revisions]
  const changing = credential instanceof Ref ? [credential, ...roles] : roles
  return {
    key: ownKeyOf(parts),
    caller,
    since: transaction.lastCommitTime,
    expires: expiryOf(credential, document),
    conditions: [
      ...changing.map(ref => ({ document: ref, onDeleteOnly: false })),
      ...(identity instanceof Ref ? [{ document: identity, onDeleteOnly: true }] : []),
      ...existenceOf(caller.database, transaction),
    ],
  }
}

function revisionOf(version: Version | undefined): Value {
  return typeof version?.ts === 'number' ? BigInt(version.ts) : null
}

function expiryOf(credential: Caller['credential'], document: Version | undefined): Micros {
  if (credential instanceof Map) {
    const seconds = credential.get('exp')
    return typeof seconds === 'bigint' || typeof seconds === 'number'
      ? nearestMicros(Number(seconds) * 1e6)
      : endOfTime
  }
  const ttl = document?.fields.get('ttl')
  return ttl instanceof Time ? nearestMicros(Number(microsOfTime(ttl))) : endOfTime
}

/** A database lives as long as its document and those of the databases around it. */
function existenceOf(database: DatabaseId, { catalogue }: Transaction): readonly Condition[] {
  return catalogue.lineage(database).map(({ ref }) => ({ document: ref, onDeleteOnly: true }))
}

/** What a stream of something in `source` depends on beside its viewer; native collections never go away. */
export function sourceConditions(source: Ref, transaction: Transaction): readonly Condition[] {
  const around = existenceOf(source.database, transaction)
  return isNativeCollectionRef(source) ? around : [{ document: source, onDeleteOnly: true }, ...around]
}
