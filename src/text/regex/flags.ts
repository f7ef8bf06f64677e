// The flags that a pattern switches on and off for its groups.

import type { PatternReader } from './pattern-reader.ts'

/** Flags by their letters. */
export interface Flags {
  /** `i`: letters of either case, of ASCII unless `u` is on. */
  readonly ignoreCase: boolean
  /** `m`: `^` and `$` match at lines too. */
  readonly multiline: boolean
  /** `s`: `.` matches line terminators. */
  readonly dotAll: boolean
  /** `d`: only `\n` ends a line. */
  readonly unixLines: boolean
  /** `u`: letters beyond ASCII have cases too. */
  readonly unicodeCase: boolean
  /** `U`: predefined classes are of Unicode. */
  readonly unicodeClasses: boolean
  /** `x`: blanks and comments do not count. */
  readonly comments: boolean
}

export const noFlags: Flags = {
  ignoreCase: false,
  multiline: false,
  dotAll: false,
  unixLines: false,
  unicodeCase: false,
  unicodeClasses: false,
  comments: false,
}

const byLetter: Readonly<Record<string, Partial<Record<keyof Flags, true>>>> = {
  i: { ignoreCase: true },
  m: { multiline: true },
  s: { dotAll: true },
  d: { unixLines: true },
  u: { unicodeCase: true },
  U: { unicodeClasses: true, unicodeCase: true },
  x: { comments: true },
}

/** Flags as letters before and behind a minus sign change them. Stops at the first other character. */
export function readFlags(reader: PatternReader, flags: Flags): Flags {
  let changed = flags
  let on = true
  for (;;) {
    const letter = String.fromCodePoint(Math.max(0, reader.peekRaw()))
    const names = Object.hasOwn(byLetter, letter) ? byLetter[letter] : undefined
    if (names) {
      const changes = Object.fromEntries(Object.keys(names).map(name => [name, on]))
      changed = { ...changed, ...changes }
    } else if (letter === '-' && on) on = false
    else return changed
    reader.nextRaw()
  }
}
