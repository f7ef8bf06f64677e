// The errors of things side by side, which one response tells together. Bounded: a short query can make very many, and
// one that has reached the end of the stack in one place would reach it in all others too, twice as often per level.

import { step } from '../base/effort.ts'
import { limits } from '../limits.ts'
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

  /** What `work` returns; undefined when it throws errors, which are gathered. */
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

  /** Nothing more will be told; gathering can stop. */
  get isFull(): boolean {
    if (this.#isFinal || this.#errors.length >= limits.gatheredErrorsMax) return true
    return this.#units >= limits.gatheredErrorUnitsMax
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new QueryError(this.#errors)
  }
}

/** About how much of a response an error takes: steps of its position, and characters. */
function unitsOf({ cause = [], description, failures = [], position }: ErrorEntry): number {
  let units = description.length + position.length
  for (const at of position) if (typeof at === 'string') units += at.length
  for (const { description: text, field } of failures) units += text.length + field.join('').length
  for (const inner of cause) units += unitsOf(inner)
  step(units >> 4)
  return units
}
