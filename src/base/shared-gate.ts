// A gate that many pass together, or one alone: who wants to be alone waits until the others are through, and who comes
// meanwhile waits for that one. Those who have waited so pass before the next one that wants to be alone: nobody starves.

export class SharedGate {
  /** How many have passed together and are not through. */
  #inside = 0
  #isTaken = false
  #waiting: (() => void)[] = []
  readonly #waitingAlone: (() => void)[] = []

  /** Passes with the others: at once (undefined), or when the promise resolves. To be followed by one {@link leave}. */
  enter(): Promise<void> | undefined {
    if (this.#isTaken || this.#waitingAlone.length > 0) {
      return new Promise(resolve => this.#waiting.push(resolve))
    }
    this.#inside++
    return undefined
  }

  /** Says that one which had passed is through. */
  leave(): void {
    this.#inside--
    this.#advance()
  }

  /** Resolves when nobody else is inside, and nobody will be until the returned function is called, once. */
  alone(): Promise<() => void> {
    return new Promise(resolve => {
      this.#waitingAlone.push(() => resolve(() => this.#open()))
      this.#advance()
    })
  }

  #open(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#isTaken = false
    this.#inside += waiting.length
    for (const pass of waiting) pass()
    this.#advance()
  }

  #advance(): void {
    if (this.#isTaken || this.#inside > 0) return
    const next = this.#waitingAlone.shift()
    if (next === undefined) return
    this.#isTaken = true
    next()
  }
}
