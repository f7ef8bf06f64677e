// The errors of things side by side, which one answer tells together. Bounded: a short query can make very many, and
// one that has reached the end of the stack in one place would reach it in all others too, twice as often per level.

import { type ErrorEntry, QueryError } from '../errors.ts'
import { limits } from '../limits.ts'

/** Errors of several elements, for one answer. */
export class ErrorList {
  readonly #errors: ErrorEntry[] = []
  #isFinal = false

  add(errors: Iterable<ErrorEntry>): void {
    for (const error of errors) {
      if (this.isFull) return
      this.#errors.push(error)
      if (error.code === 'stack overflow') this.#isFinal = true
    }
  }

  /** Nothing more will be told; whoever gathers can stop. */
  get isFull(): boolean {
    return this.#isFinal || this.#errors.length >= limits.gatheredErrorsMax
  }

  throwIfAny(): void {
    if (this.#errors.length > 0) throw new QueryError(this.#errors)
  }
}

/** What `work` gives; its errors go to `errors` and the answer is undefined then. */
export function attempt<T>(errors: ErrorEntry[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    errors.push(...error.errors)
    return undefined
  }
}
