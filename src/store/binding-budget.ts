// How long the bindings of one document may take where the process that serves everybody computes them: in builds, which
// nobody watches. Measured as time of the thread, so that a busy machine fails no build.

import { threadMicros } from '../base/clock.ts'
import { watched } from '../base/effort.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Lambda, Micros, Value } from '../values/value.ts'
import type { StoreHooks, Version } from './contract.ts'

/** What a binding of each version adds to what a document may take: one that takes no longer is never too long. */
const microsPerVersion: Micros = 50

export class BindingBudget implements StoreHooks {
  readonly #hooks: StoreHooks
  readonly #clock: () => Micros
  #left = 0

  /** `clock`: microseconds that this thread has worked. */
  constructor(hooks: StoreHooks, clock: () => Micros = threadMicros) {
    this.#hooks = hooks
    this.#clock = clock
  }

  /** Another document begins. */
  begin(): void {
    this.#left = limits.buildBindingsMs * 1000
  }

  /** Throws `time out` when the bindings of the document have taken too long together. */
  evaluateBinding(lambda: Lambda, document: Version): Value | undefined {
    this.#left += microsPerVersion
    const started = this.#clock()
    const look = () => {
      if (this.#clock() - started > this.#left) throw tooLong()
    }
    try {
      return watched({ look, beforeLongCall: look }, () => this.#hooks.evaluateBinding(lambda, document))
    } finally {
      this.#left -= this.#clock() - started
    }
  }
}

function tooLong(): RequestError {
  const text = `Computing its bindings takes too long. Max: ${limits.buildBindingsMs} ms.`
  return new RequestError('time out', text)
}
