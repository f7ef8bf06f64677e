// The variables in sight of an expression: a linked list, innermost first, shared and never changed.

import { assert } from '../base/assert.ts'
import type { Value } from '../values/value.ts'

export class Variables {
  readonly name: string
  readonly value: Value
  readonly outer: Variables | undefined

  constructor(name: string, value: Value, outer: Variables | undefined) {
    this.name = name
    this.value = value
    this.outer = outer
  }
}

/** The value of a variable. The parser has refused unbound ones, so it is there. */
export function lookUp(variables: Variables | undefined, name: string): Value {
  for (let frame = variables; frame; frame = frame.outer) if (frame.name === name) return frame.value
  assert(false, `variable ${name} is not bound`)
}
