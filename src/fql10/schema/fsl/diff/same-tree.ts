// Whether two trees that the parser made mean the same, wherever they stand in their texts.

import { step } from '../../../../base/effort.ts'

/** The fields of nodes that say where they stand. */
const places: ReadonlySet<string> = new Set([
  'start',
  'end',
  'operatorStart',
  'nameStart',
  'nameEnd',
  'argumentsStart',
  'skippedStart',
])

/** Whether two expressions, types or statements, or lists of such, are the same but for their places. */
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
  return Object.entries(tree).filter(([name, value]) => !places.has(name) && value !== undefined)
}
