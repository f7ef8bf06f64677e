// What is parsed in one turn of the event loop. Node parses all that it has read of a connection at once, which can be
// hundreds of requests; so connections that have brought much are handed to it some at a time, and those that have
// brought little do not wait behind them.

import { limits } from '../limits.ts'

interface Waiting {
  readonly bytes: number
  readonly go: () => void
}

/** Lets so many bytes pass in a turn, in the order in which they came. */
class Lane {
  readonly #waiting: Waiting[] = []
  #passed = 0
  #isScheduled = false

  admit(bytes: number, go: () => void): void {
    if (this.#waiting.length > 0 || this.#passed >= limits.intakeBytesPerTurn)
      this.#waiting.push({ bytes, go })
    else this.#pass({ bytes, go })
  }

  #pass({ bytes, go }: Waiting): void {
    this.#passed += bytes
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(this.#next)
    }
    go()
  }

  readonly #next = () => {
    this.#isScheduled = false
    this.#passed = 0
    while (this.#passed < limits.intakeBytesPerTurn) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#pass(next)
    }
  }
}

export class Intake {
  readonly #short = new Lane()
  readonly #long = new Lane()

  /** Calls `go`, after which so many bytes are parsed, at once or in a later turn. It must not throw. */
  admit(bytes: number, go: () => void): void {
    const lane = bytes > limits.intakeShortBytes ? this.#long : this.#short
    lane.admit(Math.max(bytes, limits.intakeBytesMin), go)
  }
}
