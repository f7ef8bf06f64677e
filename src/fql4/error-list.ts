// Collects the errors of sibling elements for one response. The list is bounded, because a short query can cause very
// many errors. A stack overflow is always the last error in the list. It would occur in all other elements as well, and
// the cost would double with each level.

import { step } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { type ErrorEntry, QueryError } from './errors.ts'

/** Errors of several elements, for one response. */
export class ErrorList {
  readonly #errors: ErrorEntry[] = []
  #units = 0
  #isFinal = false

  add(errors: Iterable<ErrorEntry>): void {
    for (const error of errors) {
      if (this.isFull) return
      this.#errors.push(error)
      this.#units += unitsOf(error)
      if (error.code === 'stack overflow') this.#isFinal = true
    }
  }

  /** The result of `work`; undefined when it throws query errors, which are added. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      this.add(error.errors)
      return undefined
    }
  }

  get isEmpty(): boolean {
    return this.#errors.length === 0
  }

  /** Returns whether the list accepts no more errors, so that collecting can stop. */
  get isFull(): boolean {
    if (this.#isFinal || this.#errors.length >= limits.gatheredErrorsMax) return true
    return this.#units >= limits.gatheredErrorUnitsMax
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new QueryError(this.#errors)
  }
}

/** The approximate size of an error in a response: steps of its position, and characters. */
function unitsOf({ cause = [], description, failures = [], position }: ErrorEntry): number {
  let units = description.length + position.length
  for (const at of position) if (typeof at === 'string') units += at.length
  for (const { description: text, field } of failures) units += text.length + field.join('').length
  for (const inner of cause) units += unitsOf(inner)
  step(units >> 4)
  return units
}
