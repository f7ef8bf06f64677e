// Slices the bytes of an HTTP/1.1 connection, so that the HTTP parser gets a limited number of lines at once. The
// number is limited, because the parser may create an object for each line.

import { limits } from '../../base/limits.ts'

const lineFeed = 0x0a

/**
 * Returns whether the bytes may come from a client that waits for each response before it sends the next request. Such
 * a client sends few bytes and few lines.
 */
export function isShort(bytes: Buffer): boolean {
  const { length } = bytes
  if (length > limits.shortReadBytes) return false
  let lines = 0
  for (let at = 0; at < length; at++) {
    if (bytes[at] === lineFeed && ++lines > limits.shortReadLines) return false
  }
  return true
}

/** Returns the first slice with at most `linesMax` lines: its end (exclusive) and its number of lines. */
export function sliceOf(bytes: Buffer, linesMax: number): { readonly end: number; readonly lines: number } {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    lines++
    if (lines === linesMax) return { end: at + 1, lines }
  }
  return { end: bytes.length, lines }
}
