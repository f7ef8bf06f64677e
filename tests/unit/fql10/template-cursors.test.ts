// Cursors of sets from templates: wherever the template values are, all pages together are the whole set.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../support/fast-check.ts'
import { arraySets, type TemplatePart } from '../../support/set-templates.ts'
import { run } from './support.ts'

/** The elements of all pages of two elements. */
function paged(set: readonly TemplatePart[]): unknown {
  const all: unknown[] = []
  let outcome = run({ fql: ['(', ...set, ').paginate(2)'] }, { format: 'simple' })
  for (;;) {
    if (outcome.error !== undefined) return outcome.error
    const { after, data } = outcome.data as { data: readonly unknown[]; after?: string }
    all.push(...data)
    if (after === undefined) return all
    outcome = run('Set.paginate(after)', { format: 'simple', arguments: { after } })
  }
}

test('cursors contain the template values before, within and after projections', () => {
  fc.assert(
    fc.property(arraySets, set => {
      const whole = run({ fql: ['(', ...set, ').toArray()'] }, { format: 'simple' })
      assert.deepEqual(paged(set), whole.data)
    }),
    { numRuns: 150 },
  )
})
