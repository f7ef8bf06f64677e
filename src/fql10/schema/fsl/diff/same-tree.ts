// Compares syntax trees, ignoring their positions.

import { step } from '../../../../base/effort.ts'

/** The fields of nodes that contain positions, or the spelling of a number. */
const ignoredFields: ReadonlySet<string> = new Set([
  'start',
  'end',
  'operatorStart',
  'fieldsStart',
  'nameStart',
  'nameEnd',
  'argumentsStart',
  'skippedStart',
  'written',
])

export function isSameTree(left: unknown, right: unknown): boolean {
  step()
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return Object.is(left, right)
  }
  const [fields, others] = [contentOf(left), contentOf(right)]
  return (
    fields.length === others.length &&
    fields.every(([name, value], at) => {
      const [otherName, other] = others[at] as [string, unknown]
      return name === otherName && isSameTree(value, other)
    })
  )
}

function contentOf(tree: object): readonly [string, unknown][] {
  return Object.entries(tree).filter(([name, value]) => !ignoredFields.has(name) && value !== undefined)
}
