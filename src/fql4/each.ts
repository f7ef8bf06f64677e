// Applies a lambda to many elements. Waits (Pending) are collected from many elements before evaluation is suspended,
// so that they are awaited together instead of one by one. A lambda that may write is not applied to further elements
// after its first wait, because its later effects could depend on the awaited result.

import { limits } from '../base/limits.ts'
import { Pending } from '../base/pending.ts'
import type { Value } from '../values/value.ts'
import type { Call } from './definition.ts'
import { ErrorList } from './error-list.ts'
import { QueryError } from './errors.ts'
import { applyLambda, checkWidth } from './evaluate.ts'
import type { BoundLambda } from './expression.ts'

/** Handling of failures: the first failure aborts, or the failures of all elements are reported together. */
type FailureRule = 'first' | 'all'

/** The results of a lambda for each element, in order. `key`: the call's argument with the lambda. */
export function applyToEach(
  lambda: BoundLambda,
  elements: readonly Value[],
  call: Call,
  key: string,
  failures: FailureRule,
): Value[] {
  checkWidth(elements.length)
  const results: Value[] = []
  const waits = new Waits(lambda)
  const errors = new ErrorList()
  for (const element of elements) {
    try {
      results.push(applyLambda(lambda, element, call, key))
    } catch (error) {
      if (error instanceof Pending) {
        if (waits.add(error)) continue
        break
      }
      // A failure after a wait is not reported: the awaited operation may fail first.
      if (waits.any) break
      if (failures === 'first' || !(error instanceof QueryError)) throw error
      errors.add(error.errors)
      if (errors.isFull) break
    }
  }
  waits.throwIfAny()
  errors.throwIfAny()
  return results
}

/** The waits of the elements so far. */
class Waits {
  readonly #mayGoOn: boolean
  readonly #pendings: Pending[] = []
  #questions = 0

  constructor({ lambda }: BoundLambda) {
    this.#mayGoOn = lambda.effect !== 'write'
  }

  get any(): boolean {
    return this.#pendings.length > 0
  }

  /** Adds a wait; returns whether to continue with the next element. */
  add(pending: Pending): boolean {
    this.#pendings.push(pending)
    this.#questions += pending.questions.length
    return this.#mayGoOn && this.#questions < limits.questionsAtOnceMax
  }

  throwIfAny(): void {
    if (this.any) throw Pending.all(this.#pendings)
  }
}
