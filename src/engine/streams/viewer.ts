// The viewers of streams. Streams opened with the same rights share a viewer: access is decided once for all of them,
// and they end together when the credential is lost. A viewer is lost when its key or token changes or expires, when
// one of its roles changes, or when its identity or its database (or an ancestor) is deleted.

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

/** A document whose change ends a viewer or a subject. */
export interface Condition {
  readonly document: Ref
  /** True if only a deletion ends the viewer or subject, not an update. */
  readonly onDeleteOnly: boolean
}

/** The properties of a viewer. */
export interface ViewerTerms {
  /** Identifies the viewer: callers that differ in a relevant property have different keys. */
  readonly key: string
  readonly caller: Caller
  /**
   * The newest commit at the creation of the viewer. The viewer's rights include the effects of commits up to it.
   */
  readonly since: Micros
  /** The time when the credential expires; `Infinity` for never. */
  readonly expires: Micros
  readonly conditions: readonly Condition[]
}

/** Returns the properties of the viewer for the caller of a session. */
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

/** A database exists as long as its document and those of its ancestors exist. */
function existenceOf(database: DatabaseId, { catalogue }: Transaction): readonly Condition[] {
  return catalogue.lineage(database).map(({ ref }) => ({ document: ref, onDeleteOnly: true }))
}

/**
 * Returns the conditions of a subject in `source`, in addition to the conditions of its viewer. Native collections are
 * never deleted.
 */
export function sourceConditions(source: Ref, transaction: Transaction): readonly Condition[] {
  const around = existenceOf(source.database, transaction)
  return isNativeCollectionRef(source) ? around : [{ document: source, onDeleteOnly: true }, ...around]
}
