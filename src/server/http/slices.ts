// Slices of what a connection of HTTP/1.1 has sent: lines are counted, because each may become an object of the parser.

import { limits } from '../../base/limits.ts'

const lineFeed = 0x0a

/** Whether bytes are as few, of as few lines, as what a client sends that waits for responses. */
export function isShort(bytes: Buffer): boolean {
  const { length } = bytes
  if (length > limits.shortReadBytes) return false
  let lines = 0
  for (let at = 0; at < length; at++) {
    if (bytes[at] === lineFeed && ++lines > limits.shortReadLines) return false
  }
  return true
}

/** The next slice of what is to be parsed: the byte that it ends before, and its lines. */
export function sliceOf(bytes: Buffer): { readonly end: number; readonly lines: number } {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    lines++
    if (lines === limits.linesPerSlice) return { end: at + 1, lines }
  }
  return { end: bytes.length, lines }
}
