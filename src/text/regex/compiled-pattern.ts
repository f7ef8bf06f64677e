// Compiles patterns and searches texts with them. RE2 runs all patterns that it supports, in linear time. The
// backtracking engine runs the other patterns, for example with look-ahead or back references, and counts its steps.
// Because patterns come from clients, everything is limited: pattern length, program size, steps of one search, and
// memory of cached patterns.

import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { longCall } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { anchorsDiffer } from './anchors.ts'
import { type BacktrackProgram, backtrackProgram } from './backtrack-program.ts'
import { BacktrackSearch } from './backtrack-search.ts'
import { readPattern } from './java-pattern.ts'
import { linearSource } from './linear-source.ts'
import { UnsupportedRegexError } from './pattern-errors.ts'
import type { PatternTree } from './pattern-tree.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const compiledPatternLimits = {
  /** Characters of a search pattern; own limit. */
  regexPatternCharsMax: 10_000,
  /** Cached patterns, their instructions together, and bytes of search states of each; own limit. */
  regexCacheMax: 200,
  regexCacheInstructionsMax: 100_000,
  regexStateBytesMax: 262_144,
} as const

type LinearProgram = ReturnType<typeof RE2JS.compile>

/** A match. The offsets are in UTF-16 units, and `end` is the offset after the match. */
export interface Match {
  readonly start: number
  readonly end: number
  /** Returns the text of a group. Group 0 is the whole match. The text is empty if the group has not matched. */
  readonly group: (number: number) => string
}

/** A search of one text. The search starts when the first match is requested. */
export interface Search {
  /** True if the search takes linear time. The value is known before the search starts. */
  readonly linear: boolean
  /** The matches, in order. A match must not be used after the next match was requested. */
  readonly matches: Iterable<Match, void, void>
  /** Returns the number of steps taken so far; 0 for a linear search. */
  readonly steps: () => number
}

export class CompiledPattern {
  readonly #tree: PatternTree
  /** Undefined if RE2 does not support the pattern. */
  readonly #linear: LinearProgram | undefined
  #backtracking: BacktrackProgram | undefined

  constructor(tree: PatternTree, linear: LinearProgram | undefined) {
    this.#tree = tree
    this.#linear = linear
    if (!linear) this.#backtrackProgram()
  }

  get groupCount(): number {
    return this.#tree.groupCount
  }

  get groupNames(): ReadonlyMap<string, number> {
    return this.#tree.groupNames
  }

  /** The number of instructions, which is a measure of the memory that the pattern needs. */
  get size(): number {
    return this.#linear?.programSize() ?? this.#backtrackProgram().instructions.length
  }

  /**
   * Returns whether a search of `text` takes linear time. The result is false if RE2 does not support the pattern, or
   * if RE2's anchors would match at other offsets in `text` than Java's anchors.
   */
  isLinearOn(text: string): boolean {
    return this.#linear !== undefined && !anchorsDiffer(this.#tree.anchors, text)
  }

  /**
   * Searches a text. Iterating over the matches throws `SearchTooLongError` if the backtracking engine exceeds its
   * maximum number of steps.
   */
  search(text: string): Search {
    if (this.#linear && this.isLinearOn(text)) {
      return { linear: true, matches: linearMatches(this.#linear, text), steps: () => 0 }
    }
    const search = new BacktrackSearch(this.#backtrackProgram(), text)
    return { linear: false, matches: backtrackMatches(search), steps: () => search.steps }
  }

  /**
   * Returns whether the pattern matches anywhere in a text for which {@link isLinearOn} is true. This test is faster
   * than finding the first match.
   */
  occursLinearlyIn(text: string): boolean {
    const found = this.#linear?.test(text) ?? false
    this.#releaseStates()
    return found
  }

  #backtrackProgram(): BacktrackProgram {
    this.#backtracking ??= backtrackProgram(this.#tree.root, this.#tree.groupCount)
    return this.#backtracking
  }

  /**
   * If the DFA states that RE2 has cached for this pattern take too much memory, deletes them. The states of a pattern
   * can take up to 8 MiB, and a pattern can be in the cache for a long time.
   */
  #releaseStates(): void {
    const states = this.#linear?.re2().lazyDFA
    if (states && states.stateBudget - states.memBudget > compiledPatternLimits.regexStateBytesMax)
      states.clearCache()
  }
}

function* linearMatches(program: LinearProgram, text: string): Generator<Match, void, void> {
  const matcher = program.matcher(text)
  while (matcher.find()) {
    yield { start: matcher.start(), end: matcher.end(), group: number => matcher.group(number) ?? '' }
  }
}

function* backtrackMatches(search: BacktrackSearch): Generator<Match, void, void> {
  while (search.find()) {
    yield { start: search.start, end: search.end, group: number => search.group(number) ?? '' }
  }
}

/** The cache of compiled patterns. */
const remembered = new LRUCache<string, CompiledPattern>({
  max: compiledPatternLimits.regexCacheMax,
  maxSize: compiledPatternLimits.regexCacheInstructionsMax,
  sizeCalculation: ({ size }) => Math.max(1, size),
})

/** Compiles a pattern in Java's syntax. Throws `RegexSyntaxError` and {@link UnsupportedRegexError}. */
export function compilePattern(pattern: string): CompiledPattern {
  const known = remembered.get(pattern)
  if (known) return known
  const compiled = compileNew(pattern)
  remembered.set(pattern, compiled)
  return compiled
}

function compileNew(pattern: string): CompiledPattern {
  if (pattern.length > compiledPatternLimits.regexPatternCharsMax) {
    throw new UnsupportedRegexError(`more than ${compiledPatternLimits.regexPatternCharsMax} characters`)
  }
  const tree = readPattern(pattern)
  return new CompiledPattern(tree, compileLinear(tree))
}

/** The cost of compiling one character in RE2, as a multiple of the cost that {@link longCall} assumes. */
const compilationsPerUnit = 8

function compileLinear(tree: PatternTree): LinearProgram | undefined {
  const linear = linearSource(tree.root)
  if (!linear) return undefined
  longCall(linear.source.length * compilationsPerUnit)
  try {
    const program = RE2JS.compile(linear.source, linear.usesLookBehind ? RE2JS.LOOKBEHINDS : 0)
    return program.programSize() > limits.regexInstructionsMax ? undefined : program
  } catch {
    // The syntax of the pattern is already valid. RE2 only rejects nested counts and patterns that are nested too
    // deeply.
    return undefined
  }
}
