// Evaluates bindings, the computed fields of indexes: stored code that runs over one document whenever the document is
// written. A binding can read only its document and the names of its database. So an index entry that is computed again
// later is the same.

import { isInterruption } from '../base/effort.ts'
import { endOfTime } from '../base/micros.ts'
import { Memo } from '../base/pending.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Catalogue, NameLookup, Transaction, Version } from '../storage/store/store-contract.ts'
import type { Code } from '../values/code.ts'
import { type CollectionId, type DatabaseId, native, type Value } from '../values/value.ts'
import { Failure, LanguageError } from './failure.ts'
import { Session, type SessionHost } from './session.ts'
import { viewDocument } from './view-document.ts'

/**
 * Thrown when a binding reads more than its document. The check at the creation of the index cannot detect every such
 * binding.
 */
class Lookup extends Error {}

/** The members of a transaction that a binding can use. */
const known: Partial<Transaction> = {
  // `Now()` in a binding returns the end of time: index entries are not computed again as time passes.
  snapshotTime: endOfTime,
  writable: false,
  counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
}

/** Wraps an object so that every member which is not in `known` throws a {@link Lookup}. */
function nothingBut<T extends object>(known: Partial<T>): T {
  const get = (target: Partial<T>, name: string | symbol) => {
    if (Object.hasOwn(target, name)) return target[name as keyof T]
    throw new Lookup(`a binding must not use ${String(name)}`)
  }
  return new Proxy(known, { get }) as T
}

const nothing = nothingBut<Transaction>(known)

/** A transaction that resolves the names of one database. */
function transactionOver(names: NameLookup, own: DatabaseId): Transaction {
  const resolve = (database: DatabaseId, nativeCollection: CollectionId, name: string) => {
    if (database !== own || nativeCollection === native.databases)
      throw new Lookup('a binding must not look into other databases')
    return names(nativeCollection, name)
  }
  return nothingBut<Transaction>({ ...known, catalogue: nothingBut<Catalogue>({ resolve }) })
}

/**
 * Returns the value of `binding` for a document. The result is undefined when the binding fails, exceeds its limits, or
 * reads anything but its document and `names`, the names of its database.
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
    transaction: names ? transactionOver(names, database) : nothing,
    caller: {
      database,
      authority: { kind: 'predicate', database },
      identity: undefined,
      credential: undefined,
    },
    dialect: '4',
    memo: new Memo(),
    deadline: Number.POSITIVE_INFINITY,
    effectLimit: 'pure',
    effectPlace: 'index bindings',
  })
  try {
    return session.run(binding, { one: viewDocument(document, session) })
  } catch (error) {
    // The writing query has run out of time or memory. The document is not the cause.
    if (isInterruption(error)) throw error
    const isItsOwn = error instanceof LanguageError || error instanceof Failure || error instanceof Lookup
    if (isItsOwn || error instanceof RequestError) return undefined
    throw error
  }
}
