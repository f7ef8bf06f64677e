// An interrupted evaluation of a binding makes no entry, in particular no entry with null.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languages } from '../../../src/app/languages.ts'
import { withWatch } from '../../../src/base/effort.ts'
import { micros } from '../../../src/base/micros.ts'
import { RequestError } from '../../../src/base/request-errors.ts'
import { evaluateBinding } from '../../../src/model/binding.ts'
import type { SessionHost } from '../../../src/model/session.ts'
import type { Code } from '../../../src/values/code.ts'
import { Lambda, Ref, rootDatabase, type Value } from '../../../src/values/value.ts'

const host = { languages, now: () => 0 } as unknown as SessionHost
const data = new Map<string, Value>([['numbers', Array.from({ length: 50_000 }, (_, n) => BigInt(n))]])
const document = {
  ref: new Ref(rootDatabase, 1024, 1n),
  ts: micros(1),
  action: 'create' as const,
  fields: new Map<string, Value>([['data', data]]),
}

const numbers = new Map<string, Value>([
  ['select', ['data', 'numbers']],
  ['from', new Map([['var', 'd']])],
])
const lambda = (body: Value): Code => new Lambda('4', 'd', body)
const copied = new Map<string, Value>([
  ['append', []],
  ['collection', numbers],
])
const same = lambda(new Map<string, Value>([['equals', [numbers, copied]]]))

/** The errors that interrupt a query: out of time, out of memory, and the move to the slow lane. */
const ends: readonly unknown[] = [
  new RequestError('time out', 'Read timed out.'),
  new RequestError('bad request', 'Query takes too much memory.'),
  new (class SlowLaneNeeded {})(),
]

test('a binding gives its value, or null when it fails by itself', () => {
  assert.equal(evaluateBinding(host, same, document), true)
  assert.equal(evaluateBinding(host, lambda(new Map([['length', 1n]])), document), undefined)
})

test('an interruption during a binding ends the query, and makes no entry', () => {
  for (const end of ends) {
    const check = (): never => {
      throw end
    }
    const evaluate = () =>
      withWatch({ check, beforeLongCall: check }, () => evaluateBinding(host, same, document))
    let thrown: unknown
    try {
      evaluate()
    } catch (error) {
      thrown = error
    }
    assert.equal(thrown, end)
  }
})
