// Compiles patterns and searches texts. The library RE2 searches in linear time, but does not support features such as
// look-ahead and back references. The backtracking engine handles all other patterns, and counts its steps. Clients
// choose the patterns, so pattern length, program size, steps of a search, and memory of cached patterns are limited.

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

const compiledPatternLimits = {
  /** Maximum length of a search pattern in characters; own limit. */
  regexPatternCharsMax: 10_000,
  /** Maximum number of cached patterns; own limit. */
  regexCacheMax: 200,
  /** Maximum number of instructions of all cached patterns together; own limit. */
  regexCacheInstructionsMax: 100_000,
  /** Maximum number of bytes of search states that a cached pattern keeps; own limit. */
  regexStateBytesMax: 262_144,
} as const

type LinearProgram = ReturnType<typeof RE2JS.compile>

/** Offsets are UTF-16 units. `end` is exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
  /** Group 0 is the whole match. The text of a group that has not matched is empty. */
  readonly group: (number: number) => string
}

/** Starts when the first match is requested. */
export interface Search {
  /** The search takes linear time. */
  readonly linear: boolean
  /** Matches in ascending order. A match is valid until the next match is requested. */
  readonly matches: Iterable<Match, void, void>
  /** The number of steps so far; 0 for a linear search. */
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

  /** The number of instructions, as a measure of memory. */
  get size(): number {
    return this.#linear?.programSize() ?? this.#backtrackProgram().instructions.length
  }

  /**
   * Returns whether RE2 supports the pattern, and its anchors match at the same offsets of `text` as Java's anchors.
   */
  isLinearOn(text: string): boolean {
    return this.#linear !== undefined && !anchorsDiffer(this.#tree.anchors, text)
  }

  /**
   * The iteration over the matches throws `SearchTooLongError` if a backtracking search exceeds the maximum number of
   * steps.
   */
  search(text: string): Search {
    if (this.#linear && this.isLinearOn(text)) {
      return { linear: true, matches: linearMatches(this.#linear, text), steps: () => 0 }
    }
    const search = new BacktrackSearch(this.#backtrackProgram(), text)
    return { linear: false, matches: backtrackMatches(search), steps: () => search.steps }
  }

  /** Returns whether the pattern matches anywhere. Faster than {@link search}, but requires {@link isLinearOn}. */
  occursLinearlyIn(text: string): boolean {
    const found = this.#linear?.test(text) ?? false
    this.#releaseStates()
    return found
  }

  #backtrackProgram(): BacktrackProgram {
    this.#backtracking ??= backtrackProgram(this.#tree.root, this.#tree.groupCount)
    return this.#backtracking
  }

  /** RE2's cached DFA states can use up to 8 MiB, and a pattern can stay in the cache for a long time. */
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

const remembered = new LRUCache<string, CompiledPattern>({
  max: compiledPatternLimits.regexCacheMax,
  maxSize: compiledPatternLimits.regexCacheInstructionsMax,
  sizeCalculation: ({ size }) => Math.max(1, size),
})

/** `pattern` has Java's syntax. Throws `RegexSyntaxError` and {@link UnsupportedRegexError}. */
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

/** The cost of compiling a character in RE2, relative to the cost of a character in {@link longCall}. */
const compilationCost = 8

function compileLinear(tree: PatternTree): LinearProgram | undefined {
  const linear = linearSource(tree.root)
  if (!linear) return undefined
  longCall(linear.source.length * compilationCost)
  try {
    const program = RE2JS.compile(linear.source, linear.usesLookBehind ? RE2JS.LOOKBEHINDS : 0)
    return program.programSize() > limits.regexInstructionsMax ? undefined : program
  } catch {
    // RE2 also rejects nested counts and patterns that are nested too deeply.
    return undefined
  }
}
