// How long the bindings of one document may take wherever they are computed: in writes, in imports and in builds. When
// the document is removed later, they are computed again in the process that serves all, and no request could be refused.
// Measured as time of the thread, so that a busy machine refuses no document.

import { threadMicros } from '../../base/clock.ts'
import { alsoWatched } from '../../base/effort.ts'
import { RequestError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Code } from '../../values/code.ts'
import type { Value } from '../../values/value.ts'
import type { NameLookup, StoreHooks, Version } from './contract.ts'

/** What a binding of each version adds to what a document may take: one that takes no longer is never too long. */
const microsPerVersion: number = 50

export class BindingBudget implements StoreHooks {
  readonly #hooks: StoreHooks
  readonly #clock: () => number
  /** Of the document under way; without one there is no limit. */
  #left = Number.POSITIVE_INFINITY
  /** Microseconds that all bindings have taken since the process began. */
  #spent: number = 0

  /** `clock`: microseconds that this thread has worked. */
  constructor(hooks: StoreHooks, clock: () => number = threadMicros) {
    this.#hooks = hooks
    this.#clock = clock
  }

  /** Runs synchronous work and tells what its bindings took, in microseconds, whether or not it throws. */
  counted<T>(work: () => T, tell: (micros: number) => void): T {
    const before = this.#spent
    try {
      return work()
    } finally {
      tell(this.#spent - before)
    }
  }

  /** Runs work on one document, whose bindings together have so many milliseconds. */
  perDocument<T>(work: () => T, milliseconds: number = limits.documentBindingsMs): T {
    const outer = this.#left
    this.#left = milliseconds * 1000
    try {
      return work()
    } finally {
      this.#left = outer
    }
  }

  get readMigration(): StoreHooks['readMigration'] {
    return this.#hooks.readMigration
  }

  evaluateBinding(binding: Code, document: Version, names?: NameLookup): Value | undefined {
    this.#left += microsPerVersion
    return this.within(() => this.#hooks.evaluateBinding(binding, document, names))
  }

  /**
   * Runs a binding, or other stored code that belongs to the document. Throws `time out` when all that has taken too long
   * together.
   */
  within<T>(work: () => T): T {
    const started = this.#clock()
    const check = () => {
      if (this.#clock() - started > this.#left) throw tooLong()
    }
    try {
      return alsoWatched({ check, beforeLongCall: check }, work)
    } finally {
      const taken = this.#clock() - started
      this.#left -= taken
      this.#spent += taken
    }
  }
}

function tooLong(): RequestError {
  const text = msg`Computing the bindings takes too long. Max: ${limits.documentBindingsMs} ms.`
  return new RequestError('time out', text)
}
