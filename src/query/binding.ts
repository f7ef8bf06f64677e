// Computed fields of indexes: stored lambdas over one document, run whenever it is written. They see nothing but
// the document, so that an entry can be computed again at any time and come out the same.

import { InvariantError } from '../base/assert.ts'
import { Answers } from '../base/pending.ts'
import { QueryError } from '../errors.ts'
import type { Transaction, Version } from '../store/contract.ts'
import type { Lambda, Value } from '../values/value.ts'
import { applyStored } from './evaluate.ts'
import { Evaluation, type EvaluationHost } from './evaluation.ts'
import { viewDocument } from './view-document.ts'

/** `Now()` in a binding: entries are not computed again as time passes, so it is the end of time. */
const endOfTime = Number.MAX_SAFE_INTEGER

/** Stands for the transaction; a binding that asks it for data got past the check of its effects. */
const nothing = {
  snapshotTime: endOfTime,
  commitTime: undefined,
  writable: false,
  get catalogue(): never {
    throw new InvariantError('a binding must not look anything up')
  },
} as unknown as Transaction

/** The value of `binding` for a document; undefined when it fails. */
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
    answers: new Answers(),
    deadline: Number.POSITIVE_INFINITY,
    effectLimit: 'pure',
    effectPlace: 'index bindings',
  })
  try {
    return applyStored(binding, viewDocument(document, evaluation), evaluation, () => [])
  } catch (error) {
    if (error instanceof QueryError) return undefined
    throw error
  }
}
