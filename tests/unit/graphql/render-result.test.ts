// The limit of a response counts each character once, however deep its list or object is nested.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestError } from '../../../src/base/request-errors.ts'
import { renderData } from '../../../src/graphql/operation/render-result.ts'
import type { Plan } from '../../../src/graphql/operation/result-plan.ts'
import type { Session } from '../../../src/model/session.ts'
import type { Value } from '../../../src/values/value.ts'

const longText = 'x'.repeat(4_000_000)
const leaf: Plan = { kind: 'leaf', type: 'String' }

function render(plan: Plan, value: Value): string {
  return renderData(plan, value, { session: {} as Session, text: '', introspected: new Map() }).data
}

test('a long text in nested lists is counted once', () => {
  let plan: Plan = leaf
  let value: Value = longText
  for (let depth = 0; depth < 20; depth++) [plan, value] = [{ kind: 'list', of: plan }, [value]]
  assert.equal(render(plan, value).length, longText.length + 2 + 2 * 20)
})

test('many long texts exceed the limit', () => {
  const texts = Array.from({ length: 17 }, () => longText)
  assert.throws(() => render({ kind: 'list', of: leaf }, texts), RequestError)
})
