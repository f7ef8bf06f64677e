// The order of strings (interim: by UTF-8 bytes).

import type { ByteWriter } from './byte-writer.ts'

/** Compares two strings. */
export function compareStrings(left: string, right: string): number {
  const a = new TextEncoder().encode(left)
  const b = new TextEncoder().encode(right)
  for (let index = 0; index < a.length && index < b.length; index++) {
    if (a[index] !== b[index]) return (a[index] as number) - (b[index] as number)
  }
  return a.length - b.length
}

/** Appends the sort key. */
export function appendSortKey(_writer: ByteWriter, _text: string): void {}
