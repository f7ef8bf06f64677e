// Computed fields of indexes: stored code over one document, run whenever it is written. It sees nothing but the document and
// the names of that time, so that an entry can be computed again at any time and come out the same.

import { isInterruption } from '../base/effort.ts'
import { RequestError } from '../base/errors.ts'
import { endOfTime } from '../base/micros.ts'
import { Memo } from '../base/pending.ts'
import type { Catalogue, NameLookup, Transaction, Version } from '../storage/store/contract.ts'
import type { Code } from '../values/code.ts'
import { type CollectionId, type DatabaseId, native, type Value } from '../values/value.ts'
import { Failure, LanguageError } from './failure.ts'
import { Session, type SessionHost } from './session.ts'
import { viewDocument } from './view-document.ts'

/** A binding asked for more than its document, which the check of effects cannot always see before. */
class Lookup extends Error {}

/** What a binding may know of its transaction. */
const known: Partial<Transaction> = {
  // `Now()` in a binding: entries are not computed again as time passes, so it is the end of time.
  snapshotTime: endOfTime,
  writable: false,
  counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
}

/** `known` in place of all of it: the rest is out of reach. */
function nothingBut<T extends object>(known: Partial<T>): T {
  const get = (target: Partial<T>, name: string | symbol) => {
    if (Object.hasOwn(target, name)) return target[name as keyof T]
    throw new Lookup(`a binding must not use ${String(name)}`)
  }
  return new Proxy(known, { get }) as T
}

const nothing = nothingBut<Transaction>(known)

/** A transaction that knows the names of one database. */
function transactionOver(names: NameLookup, own: DatabaseId): Transaction {
  const resolve = (database: DatabaseId, nativeCollection: CollectionId, name: string) => {
    if (database !== own || nativeCollection === native.databases)
      throw new Lookup('a binding must not look into other databases')
    return names(nativeCollection, name)
  }
  return nothingBut<Transaction>({ ...known, catalogue: nothingBut<Catalogue>({ resolve }) })
}

/**
 * The value of `binding` for a document; undefined when it fails, does too much or looks up something else than names of
 * its database, of which it sees `names`.
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
    // The time or the memory of the evaluating query is over: that says nothing about the document.
    if (isInterruption(error)) throw error
    const isItsOwn = error instanceof LanguageError || error instanceof Failure || error instanceof Lookup
    if (isItsOwn || error instanceof RequestError) return undefined
    throw error
  }
}
