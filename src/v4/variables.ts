// The variables in sight of an expression: a linked list, innermost first, shared and never changed. Those of a long
// `let` are found by name as well, or each use of one would go through all that were bound behind it.

import { assert } from '../base/assert.ts'
import type { Value } from '../values/value.ts'

export class Variables {
  readonly name: string
  readonly value: Value
  readonly outer: Variables | undefined
  readonly #group: LetGroup | undefined
  /** How many of the group were bound before it. */
  readonly #place: number

  constructor(name: string, value: Value, outer: Variables | undefined, group?: LetGroup) {
    this.name = name
    this.value = value
    this.outer = outer
    this.#group = group
    this.#place = group?.add(this) ?? 0
  }

  /** The nearest variable of a name, here or further out. */
  find(name: string): Variables | undefined {
    let frame: Variables | undefined = this
    while (frame) {
      if (frame.name === name) return frame
      const group: LetGroup | undefined = frame.#group
      const found = group?.newest(name, frame.#place)
      if (found) return found
      frame = group ? group.outer : frame.outer
    }
    return undefined
  }

  get place(): number {
    return this.#place
  }
}

/** Bindings from which on those of a `let` are found by name. */
export const groupedFrom = 16

/** The variables of one long `let`. Lambdas may keep those that were bound so far while more are being bound. */
export class LetGroup {
  readonly outer: Variables | undefined
  readonly #byName = new Map<string, Variables[]>()
  #size = 0

  constructor(outer: Variables | undefined) {
    this.outer = outer
  }

  /** Takes a variable in; returns how many there were before. */
  add(variable: Variables): number {
    const namesakes = this.#byName.get(variable.name)
    if (namesakes) namesakes.push(variable)
    else this.#byName.set(variable.name, [variable])
    return this.#size++
  }

  /** The newest variable of a name that was bound no later than the one at `place`. */
  newest(name: string, place: number): Variables | undefined {
    const namesakes = this.#byName.get(name)
    if (!namesakes) return undefined
    let [low, high] = [0, namesakes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((namesakes[middle] as Variables).place <= place) low = middle + 1
      else high = middle
    }
    return namesakes[low - 1]
  }
}

/** The value of a variable. The parser has refused unbound ones, so it is there. */
export function lookUp(variables: Variables | undefined, name: string): Value {
  const found = variables?.find(name)
  assert(found, `variable ${name} is not bound`)
  return found.value
}
