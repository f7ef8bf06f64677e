// Applying one lambda to many elements. Whatever has to be waited for (Pending) is collected from many elements
// before evaluation gives up, so that it is waited for once and not once per element. A lambda that may write stops
// at its first wait: what it would do next could depend on what it has not done yet.

import { Pending } from '../base/pending.ts'
import { limits } from '../limits.ts'
import type { Value } from '../values/value.ts'
import type { Call } from './definition.ts'
import { ErrorList } from './error-list.ts'
import { QueryError } from './errors.ts'
import { applyLambda, checkWidth } from './evaluate.ts'
import type { BoundLambda } from './expression.ts'

/** What happens when the lambda fails: the first failure ends it, or those of all elements come together. */
type FailureRule = 'first' | 'all'

/** What the lambda, argument `key` of the call, returns for each element, in order. */
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
      // A failure behind a wait may never be reached: what is waited for can fail first.
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

/** What the elements so far have to wait for. */
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

  /** Remembers a wait; returns whether to go on with the next element. */
  add(pending: Pending): boolean {
    this.#pendings.push(pending)
    this.#questions += pending.questions.length
    return this.#mayGoOn && this.#questions < limits.questionsAtOnceMax
  }

  throwIfAny(): void {
    if (this.any) throw Pending.all(this.#pendings)
  }
}
