// Evaluates bindings. A binding is stored code that computes a term or value of an index from a document, at every
// write of the document. A binding can read only its document and the names of schema objects in its database, so its
// value does not depend on other documents.

import { isInterruption } from '../base/effort.ts'
import { endOfTime } from '../base/micros.ts'
import { Memo } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Catalogue, NameLookup, Transaction, Version } from '../storage/store/store-contract.ts'
import type { Code } from '../values/code.ts'
import { type CollectionId, type DatabaseId, native, type Value } from '../values/value.ts'
import { callerWith } from './auth/admission.ts'
import { Failure, LanguageError } from './failure.ts'
import { Session, type SessionHost } from './session.ts'
import { viewDocument } from './view-document.ts'

/**
 * Thrown when a binding reads other data. When an index is created, bindings that are not pure are rejected, but this
 * check cannot detect all reads.
 */
class Lookup extends Error {}

/** The members of a transaction that a binding can use. */
const allowed: Partial<Transaction> = {
  // In a binding, `Now()` returns the latest possible time, because index entries do not change as time passes.
  snapshotTime: endOfTime,
  writable: false,
  counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
}

/** Returns a `T` with only the given members. Reading another member throws a {@link Lookup}. */
function onlyMembers<T extends object>(members: Partial<T>): T {
  const get = (target: Partial<T>, name: string | symbol) => {
    if (Object.hasOwn(target, name)) return target[name as keyof T]
    throw new Lookup(`a binding must not use ${String(name)}`)
  }
  return new Proxy(members, { get }) as T
}

const transactionWithoutNames = onlyMembers<Transaction>(allowed)

/** Returns a transaction that can also resolve the names in the database `own`. */
function transactionOver(names: NameLookup, own: DatabaseId): Transaction {
  const resolve = (database: DatabaseId, nativeCollection: CollectionId, name: string) => {
    if (database !== own || nativeCollection === native.databases)
      throw new Lookup('a binding must not look into other databases')
    return names(nativeCollection, name)
  }
  return onlyMembers<Transaction>({ ...allowed, catalogue: onlyMembers<Catalogue>({ resolve }) })
}

/**
 * Returns undefined if the binding fails, exceeds a limit, or reads data that bindings must not read. `names` resolves
 * the names in the document's database; without it, the binding can read only the document.
 */
export function evaluateBinding(
  host: SessionHost,
  binding: Code,
  document: Version,
  names?: NameLookup,
): Value | undefined {
  const { database } = document.ref
  const session = new Session({
    host,
    transaction: names ? transactionOver(names, database) : transactionWithoutNames,
    caller: callerWith({ kind: 'predicate', database }),
    dialect: '4',
    memo: new Memo(),
    deadline: Number.POSITIVE_INFINITY,
    effectLimit: 'pure',
    effectPlace: 'index bindings',
  })
  try {
    return session.run(binding, { one: viewDocument(document, session) })
  } catch (error) {
    // The query that writes the document has exceeded its time or memory limit. The binding is not the cause.
    if (isInterruption(error)) throw error
    const isOwnError = error instanceof LanguageError || error instanceof Failure || error instanceof Lookup
    if (isOwnError || error instanceof RequestError) return undefined
    throw error
  }
}
