// Encodes the table of collation weights: the source of src/values/collation-data.ts.

import { packNumbers } from '../src/values/collation-table.ts'

/** A collation element of a character or contraction: one weight on each level. */
export interface SourceElement {
  readonly type: 'letter' | 'mark'
  /** The index of the letter or mark. */
  readonly index: number
  /** The rank of the character on the third level, among the variants of the letter or mark. */
  readonly rank: number
}

/** The root collation, as derived from the runtime. */
export interface CollationSource {
  readonly version: number
  /** The origin of the data, for people. */
  readonly origin: string
  /** The texts that represent the primary weights, ascending. */
  readonly letters: readonly string[]
  /** The characters that represent the secondary weights, ascending. */
  readonly marks: readonly string[]
  readonly ignorable: readonly string[]
  /** Characters that Unicode normalization decomposes. */
  readonly composed: readonly string[]
  readonly elements: ReadonlyMap<string, readonly SourceElement[]>
}

/** The text of the data file. */
export function encodeCollation(source: CollationSource): string {
  const entries = [...source.elements].sort(([a], [b]) => codePointOf(a) - codePointOf(b) || (a < b ? -1 : 1))
  const isContraction = ([text]: readonly [string, unknown]): boolean => points(text).length > 1
  return `// Written by scripts/derive-collation.ts; never edit. ${source.origin}
// The order of stored keys depends on it: a changed content needs a new version of the data format.

/** The version of this table. */
export const collationVersion = ${source.version}

/**
 * Runs of texts in the order of their primary weights: distance to the run before, length - 1 (or -n: n more characters
 * follow).
 */
export const letterRuns =
  '${packRuns(source.letters)}'

/** Runs of characters in the order of their secondary weights. */
export const marks =
  '${packRuns(source.marks)}'

/** Runs of characters without any weight. */
export const ignorable =
  '${packRuns(source.ignorable)}'

/** Runs of characters that normalization takes apart. */
export const composed =
  '${packRuns(source.composed)}'

/** All other characters: distance, 8 * number of elements, and for each: 2 * rank + (mark: 1), index (of letters: distance). */
export const variants =
  '${packElements(entries.filter(entry => !isContraction(entry)))}'

/**
 * Sequences with weights of their own, like {@link variants}: the second number has the number of further characters
 * added, and these characters follow it.
 */
export const contractions =
  '${packElements(entries.filter(isContraction))}'
`
}

function points(text: string): number[] {
  return [...text].map(codePointOf)
}

function codePointOf(text: string): number {
  return text.codePointAt(0) as number
}

function packRuns(texts: readonly string[]): string {
  const numbers: number[] = []
  let next = 0
  for (let at = 0; at < texts.length; ) {
    const [start, ...more] = points(texts[at++] as string) as [number, ...number[]]
    numbers.push(start - next)
    next = start + 1
    if (more.length > 0) {
      numbers.push(-more.length, ...more)
      continue
    }
    const first = at
    while (
      at < texts.length &&
      points(texts[at] as string).length === 1 &&
      codePointOf(texts[at] as string) === next
    ) {
      at++
      next++
    }
    numbers.push(at - first)
  }
  return packNumbers(numbers)
}

function packElements(entries: readonly (readonly [string, readonly SourceElement[]])[]): string {
  const numbers: number[] = []
  let previous = 0
  let index = 0
  for (const [text, elements] of entries) {
    const [start, ...more] = points(text) as [number, ...number[]]
    numbers.push(start - previous, elements.length * 8 + more.length, ...more)
    previous = start
    for (const element of elements) {
      if (element.type === 'mark') numbers.push(element.rank * 2 + 1, element.index)
      else {
        numbers.push(element.rank * 2, element.index - index)
        index = element.index
      }
    }
  }
  return packNumbers(numbers)
}
