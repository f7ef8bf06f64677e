// Remembered results take a bounded amount of memory, however many different ones clients ask for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Remembered } from '../../../src/model/remembered.ts'
import type { Session } from '../../../src/model/session.ts'
import { rootDatabase } from '../../../src/values/value.ts'

/** A session that keeps derived results in `derived`, and the bytes that were counted for them in `counted`. */
function sessionWithCatalogue(): { readonly session: Session; readonly counted: () => number } {
  const derived = new Map<string, unknown>()
  let counted = 0
  const catalogue = {
    derived: (_: unknown, name: string, derive: () => unknown) => {
      if (!derived.has(name)) derived.set(name, derive())
      return derived.get(name)
    },
    countDerived: (_: unknown, bytes: number) => {
      counted += bytes
    },
  }
  const session = { database: rootDatabase, transaction: { catalogue } } as unknown as Session
  return { session, counted: () => counted }
}

test('results above the maximum weight replace the least recently used results', () => {
  const { counted, session } = sessionWithCatalogue()
  const bytes = 10
  const remembered = () => Remembered.of<number>('numbers', 1000, bytes, session)
  for (let at = 0; at < 500; at++) remembered().set(`${at}`, at, 100, session)
  const kept = Array.from({ length: 500 }, (_, at) => remembered().get(`${at}`)).filter(
    value => value !== undefined,
  )
  assert.ok(kept.length <= 10, `${kept.length} results of 100 units are kept`)
  assert.equal(kept.at(-1), 499)
  assert.equal(counted(), 1000 * bytes)
})

test('a result that takes more than half of the memory is not remembered', () => {
  const { session } = sessionWithCatalogue()
  const remembered = Remembered.of<string>('texts', 1000, 1, session)
  remembered.set('large', 'value', 501, session)
  assert.equal(remembered.get('large'), undefined)
})
