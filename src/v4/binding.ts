// Computed fields of indexes: stored lambdas over one document, run whenever it is written. They see nothing but
// the document, so that an entry can be computed again at any time and come out the same.

import { isInterruption } from '../base/effort.ts'
import { Memo } from '../base/pending.ts'
import { QueryError, RequestError } from '../errors.ts'
import type { Transaction, Version } from '../store/contract.ts'
import type { Lambda, Value } from '../values/value.ts'
import { applyStored } from './evaluate.ts'
import { Evaluation, type EvaluationHost } from './evaluation.ts'
import { viewDocument } from './view-document.ts'

/** `Now()` in a binding: entries are not computed again as time passes, so it is the end of time. */
const endOfTime = Number.MAX_SAFE_INTEGER

/** A binding asked for more than its document, which the check of effects cannot always see before. */
class Lookup extends Error {}

/** What a binding may know of its transaction. */
const known: Partial<Transaction> = {
  snapshotTime: endOfTime,
  commitTime: undefined,
  writable: false,
  counters: { readBytes: 0, writeBytes: 0, writeOps: 0, indexUnits: 0 },
}

/** Stands for the transaction, of which the rest is out of reach. */
const nothing = new Proxy(known, {
  get(target, name) {
    if (Object.hasOwn(target, name)) return target[name as keyof Transaction]
    throw new Lookup(`a binding must not use ${String(name)}`)
  },
}) as Transaction

/** The value of `binding` for a document; undefined when it fails, does too much or looks something up. */
export function evaluateBinding(host: EvaluationHost, binding: Lambda, document: Version): Value | undefined {
  const { database } = document.ref
  const evaluation = new Evaluation({
    host,
    transaction: nothing,
    caller: {
      database,
      authority: { kind: 'predicate', database },
      identity: undefined,
      credential: undefined,
    },
    apiVersion: '4',
    memo: new Memo(),
    deadline: Number.POSITIVE_INFINITY,
    effectLimit: 'pure',
    effectPlace: 'index bindings',
  })
  try {
    return applyStored(binding, viewDocument(document, evaluation), evaluation, () => [])
  } catch (error) {
    // The time or the memory of whoever evaluates it is over: that says nothing about the document.
    if (isInterruption(error)) throw error
    if (error instanceof QueryError || error instanceof RequestError || error instanceof Lookup)
      return undefined
    throw error
  }
}
