// The flags of patterns, which a pattern can switch for its groups.

import type { PatternReader } from './pattern-reader.ts'

/** Flags, each with its letter. */
export interface Flags {
  /** `i`: ignores the case of letters, only of ASCII letters unless `u` is on. */
  readonly ignoreCase: boolean
  /** `m`: `^` and `$` also match at line boundaries. */
  readonly multiline: boolean
  /** `s`: `.` matches line terminators. */
  readonly dotAll: boolean
  /** `d`: only `\n` ends a line. */
  readonly unixLines: boolean
  /** `u`: ignoring case applies to all of Unicode. */
  readonly unicodeCase: boolean
  /** `U`: predefined classes cover all of Unicode. */
  readonly unicodeClasses: boolean
  /** `x`: blanks and comments are ignored. */
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

/** Applies flag letters: those before a minus sign switch on, those after it off. Stops at the first other character. */
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
