// The variables in the scope of an expression. The parser needs only the names of the variables. The evaluation
// represents the variables as an immutable linked list, innermost first. A linear search over the variables of a long
// `let` would be slow, so these variables also have an index by name.

import { assert } from '../base/assert.ts'
import { upsert } from '../base/upsert.ts'
import type { Value } from '../values/value.ts'

export class Variables {
  readonly name: string
  readonly value: Value
  readonly outer: Variables | undefined
  readonly #group: LetGroup | undefined
  /** The number of earlier variables in the group. */
  readonly #index: number

  constructor(name: string, value: Value, outer: Variables | undefined, group?: LetGroup) {
    this.name = name
    this.value = value
    this.outer = outer
    this.#group = group
    this.#index = group?.add(this) ?? 0
  }

  /** Returns the innermost variable with a name. */
  find(name: string): Variables | undefined {
    let frame: Variables | undefined = this
    while (frame) {
      if (frame.name === name) return frame
      const group: LetGroup | undefined = frame.#group
      const found = group?.newest(name, frame.#index)
      if (found) return found
      frame = group ? group.outer : frame.outer
    }
    return undefined
  }

  get index(): number {
    return this.#index
  }
}

/** A `let` with at least this number of bindings has a {@link LetGroup}. */
export const largeLetBindings = 16

/** The variables of a long `let`, by name. A binding uses only earlier variables, so `newest` ignores all others. */
export class LetGroup {
  readonly outer: Variables | undefined
  readonly #byName = new Map<string, Variables[]>()
  #size = 0

  constructor(outer: Variables | undefined) {
    this.outer = outer
  }

  /** Returns the number of earlier variables in the group. */
  add(variable: Variables): number {
    upsert(this.#byName, variable.name, () => []).push(variable)
    return this.#size++
  }

  /** Returns the latest variable with a name, among the variables up to the index `last`. */
  newest(name: string, last: number): Variables | undefined {
    const namesakes = this.#byName.get(name)
    if (!namesakes) return undefined
    let [low, high] = [0, namesakes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((namesakes[middle] as Variables).index <= last) low = middle + 1
      else high = middle
    }
    return namesakes[low - 1]
  }
}

/** The variable exists, because the parser rejects unbound variables. */
export function lookUp(variables: Variables | undefined, name: string): Value {
  const found = variables?.find(name)
  assert(found, `variable ${name} is not bound`)
  return found.value
}

/** The names of the variables in scope, for the parser. An index by name avoids linear searches. */
export class BoundNames {
  readonly #names: string[] = []
  readonly #indexes = new Map<string, number[]>()

  get size(): number {
    return this.#names.length
  }

  push(name: string): void {
    upsert(this.#indexes, name, () => []).push(this.#names.length)
    this.#names.push(name)
  }

  /** Returns -1 if the name is not bound. */
  newest(name: string): number {
    return this.#indexes.get(name)?.at(-1) ?? -1
  }

  /** Removes all names after the first `size` names. */
  cut(size: number): void {
    while (this.#names.length > size) this.#indexes.get(this.#names.pop() as string)?.pop()
  }
}
