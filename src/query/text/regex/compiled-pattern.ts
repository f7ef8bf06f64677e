// Compiled patterns and their searches. Patterns come from clients, so everything about them is bounded: length,
// program, work of one search, memory of those that are remembered.

import { RE2JS } from 're2js'
import { limits } from '../../../limits.ts'
import { UnsupportedRegexError } from './errors.ts'
import { type TranslatedPattern, translatePattern } from './java-pattern.ts'

type Program = ReturnType<typeof RE2JS.compile>

/** A match: offsets in UTF-16 units, `end` behind the last, and the texts of groups when asked for. */
export interface Match {
  readonly start: number
  readonly end: number
  /** The text of a group, 0 for the whole match; empty for one that took no part. */
  readonly group: (number: number) => string
}

export class CompiledPattern {
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
  readonly #program: Program

  constructor(program: Program, translated: TranslatedPattern) {
    this.#program = program
    this.groupCount = translated.groupCount
    this.groupNames = translated.groupNames
  }

  /** Instructions: how much work each character of a text can be, and a measure of memory. */
  get size(): number {
    return this.#program.programSize()
  }

  /** Whether it matches anywhere in a text. */
  occursIn(text: string): boolean {
    const found = this.#program.test(text)
    this.#releaseStates()
    return found
  }

  /** The matches in a text, one behind the other. A match is valid until the next one is asked for. */
  *matches(text: string): Generator<Match, void, void> {
    const matcher = this.#program.matcher(text)
    while (matcher.find()) {
      yield { start: matcher.start(), end: matcher.end(), group: number => matcher.group(number) ?? '' }
    }
  }

  /** States that searches have built are a cache of up to 8 MiB; what is remembered for long keeps a fraction. */
  #releaseStates(): void {
    const states = this.#program.re2().lazyDFA
    if (states && states.stateBudget - states.memBudget > limits.regexStateBytesMax) states.clearCache()
  }
}

/** Patterns compiled before, the one used longest ago first. */
const remembered = new Map<string, CompiledPattern>()
let rememberedSize = 0

/** Compiles a pattern in Java's syntax. Throws `RegexSyntaxError` and {@link UnsupportedRegexError}. */
export function compilePattern(pattern: string): CompiledPattern {
  const known = remembered.get(pattern)
  if (known) {
    remembered.delete(pattern)
    remembered.set(pattern, known)
    return known
  }
  const compiled = compileNew(pattern)
  remembered.set(pattern, compiled)
  rememberedSize += compiled.size
  for (const [oldest, { size }] of remembered) {
    if (remembered.size <= limits.regexCacheMax && rememberedSize <= limits.regexCacheInstructionsMax) break
    remembered.delete(oldest)
    rememberedSize -= size
  }
  return compiled
}

function compileNew(pattern: string): CompiledPattern {
  if (pattern.length > limits.regexPatternCharsMax) {
    throw new UnsupportedRegexError(`more than ${limits.regexPatternCharsMax} characters`)
  }
  const translated = translatePattern(pattern)
  let program: Program
  try {
    program = RE2JS.compile(translated.source, translated.usesLookBehind ? RE2JS.LOOKBEHINDS : 0)
  } catch (error) {
    // The syntax is right by now; what is left to refuse is counts within counts and depth.
    if (error instanceof Error && error.message.includes('repeat count')) {
      throw new UnsupportedRegexError('counts within counts above 1000 together')
    }
    throw new UnsupportedRegexError('more than fits in a compiled pattern')
  }
  if (program.programSize() > limits.regexInstructionsMax) {
    throw new UnsupportedRegexError('more than fits in a compiled pattern')
  }
  return new CompiledPattern(program, translated)
}
