// Limits the time for the bindings of one document, in writes, imports and builds. When a document is removed later,
// its bindings are computed again in the service's own process, and no request can be rejected. Thread time is
// measured, so that a busy machine rejects no document.

import { threadMicros } from '../../base/clock.ts'
import { alsoWatched } from '../../base/effort.ts'
import { RequestError } from '../../base/errors.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import type { Code } from '../../values/code.ts'
import type { Value } from '../../values/value.ts'
import type { NameLookup, StoreHooks, Version } from './contract.ts'

/**
 * Microseconds that a binding of each version adds to the limit of a document: a binding that takes no longer than this
 * never exceeds the limit.
 */
const microsPerVersion: number = 50

export class BindingBudget implements StoreHooks {
  readonly #hooks: StoreHooks
  readonly #clock: () => number
  /** The remaining microseconds of the current document; without a document there is no limit. */
  #left = Number.POSITIVE_INFINITY
  /** Microseconds of all bindings since the process began. */
  #spent: number = 0

  /** `clock`: microseconds for which this thread has worked. */
  constructor(hooks: StoreHooks, clock: () => number = threadMicros) {
    this.#hooks = hooks
    this.#clock = clock
  }

  /** Runs synchronous work, and calls `tell` with the microseconds of its bindings, even if it throws. */
  counted<T>(work: () => T, tell: (micros: number) => void): T {
    const before = this.#spent
    try {
      return work()
    } finally {
      tell(this.#spent - before)
    }
  }

  /** Runs work on one document, whose bindings together may take `milliseconds`. */
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
   * Runs a binding, or other stored code that belongs to the document. Throws `time out` when all such work on the
   * document together exceeds the limit.
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
