// Calls functions of the library without a query around them.

import assert from 'node:assert/strict'
import { Call, type Evaluation } from '../../../../src/v10/call.ts'
import { QueryFailure } from '../../../../src/v10/failure/failure.ts'
import { invoke } from '../../../../src/v10/library/invoke.ts'
import { globals, memberOf } from '../../../../src/v10/library/tables.ts'
import { Source } from '../../../../src/v10/syntax/source.ts'
import { BoundFunction, type Value } from '../../../../src/v10/value.ts'

const evaluation: Evaluation = {
  now: 0,
  world: {
    global: () => undefined,
    absence: () => undefined,
    fields: () => new Map(),
    callUser: () => null,
  },
  apply: (callee, args, call) => {
    assert.ok(callee instanceof BoundFunction)
    return invoke(callee.definition as never, callee.receiver, args, call)
  },
  compute: () => {},
  tell: () => {},
  newId: () => 1n,
}

const call = new Call(evaluation, undefined, new Source('*query*', '()'), undefined)

/** What a member of a value gives. A name in place of the value means the module. */
export function member(receiver: Value | { readonly module: string }, name: string, ...args: Value[]): Value {
  const value = isModule(receiver) ? (globals.get(receiver.module) as Value) : receiver
  const entry = memberOf(value, name)
  assert.ok(entry, `no member ${name}`)
  return entry.kind === 'field' ? entry.read(value as never) : invoke(entry, value, args, call)
}

function isModule(receiver: Value | { readonly module: string }): receiver is { readonly module: string } {
  return typeof receiver === 'object' && receiver !== null && 'module' in receiver
}

/** The code and message with which something fails. */
export function failureOf(run: () => unknown): readonly [string, string] {
  try {
    run()
  } catch (error) {
    if (error instanceof QueryFailure) return [error.code, error.message]
    throw error
  }
  throw assert.fail('nothing failed')
}
