// Sets of code points, and the set operations that character classes need.

import { step } from '../../base/effort.ts'

/** Inclusive ranges in ascending order: first, last, first, last … The ranges do not overlap and are not adjacent. */
export type CodePointSet = readonly number[]

const maxCodePoint = 0x10ffff

export const noCodePoints: CodePointSet = []
export const allCodePoints: CodePointSet = [0, maxCodePoint]

/** `ranges` may be in any order, and overlap. */
export function setOf(ranges: readonly number[]): CodePointSet {
  step(ranges.length)
  const pairs: [number, number][] = []
  for (let index = 0; index < ranges.length; index += 2) {
    pairs.push([ranges[index] as number, ranges[index + 1] as number])
  }
  pairs.sort((left, right) => left[0] - right[0])
  const merged: number[] = []
  for (const [first, last] of pairs) {
    const previous = merged.at(-1)
    if (previous === undefined || first > previous + 1) merged.push(first, last)
    else if (last > previous) merged[merged.length - 1] = last
  }
  return merged
}

function union(left: CodePointSet, right: CodePointSet): CodePointSet {
  if (left.length === 0) return right
  return right.length === 0 ? left : setOf([...left, ...right])
}

export function complement(set: CodePointSet): CodePointSet {
  step(set.length >> 2)
  const rest: number[] = []
  let next = 0
  for (let index = 0; index < set.length; index += 2) {
    const first = set[index] as number
    if (first > next) rest.push(next, first - 1)
    next = (set[index + 1] as number) + 1
  }
  if (next <= maxCodePoint) rest.push(next, maxCodePoint)
  return rest
}

export function intersection(left: CodePointSet, right: CodePointSet): CodePointSet {
  return complement(union(complement(left), complement(right)))
}

/** Adds the other case of each ASCII letter. */
export function foldAscii(set: CodePointSet): CodePointSet {
  const upper = moved(intersection(set, [0x61, 0x7a]), -0x20)
  const lower = moved(intersection(set, [0x41, 0x5a]), 0x20)
  return union(union(set, upper), lower)
}

function moved(set: CodePointSet, by: number): CodePointSet {
  return set.map(codePoint => codePoint + by)
}
