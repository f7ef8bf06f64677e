// Compiled patterns and their searches. RE2 takes time in proportion to the text and does all it can do; what it cannot
// (look-ahead, back references …) an engine does that backtracks and counts its steps. Patterns come from clients, so
// everything about them is bounded: length, program, work of one search, memory of those that are remembered.

import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { longCall } from '../../base/effort.ts'
import { limits } from '../../limits.ts'
import { anchorsDiffer } from './anchors.ts'
import { type BacktrackProgram, backtrackProgram } from './backtrack-program.ts'
import { BacktrackSearch } from './backtrack-search.ts'
import { UnsupportedRegexError } from './errors.ts'
import { readPattern } from './java-pattern.ts'
import { linearSource } from './linear-source.ts'
import type { PatternTree } from './pattern-tree.ts'

type LinearProgram = ReturnType<typeof RE2JS.compile>

/** A match: offsets in UTF-16 units, `end` behind the last, and the texts of groups when asked for. */
export interface Match {
  readonly start: number
  readonly end: number
  /** The text of a group, 0 for the whole match; empty for one that took no part. */
  readonly group: (number: number) => string
}

/** A search of one text, which begins when the first match is asked for. */
export interface Search {
  /** Whether it takes time in proportion to the text, known beforehand. */
  readonly linear: boolean
  /** The matches, one behind the other. A match is valid until the next one is asked for. */
  readonly matches: Iterable<Match, void, void>
  /** Steps that a search which is not linear has taken so far. */
  readonly steps: () => number
}

export class CompiledPattern {
  readonly #tree: PatternTree
  /** Undefined for a pattern that RE2 has no way to do. */
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

  /** Instructions: a measure of memory. */
  get size(): number {
    return this.#linear?.programSize() ?? this.#backtrackProgram().instructions.length
  }

  /**
   * Whether a text is searched in time in proportion to it. Some texts of patterns that could be are not, because RE2's
   * anchors would match elsewhere than Java's.
   */
  isLinearOn(text: string): boolean {
    return this.#linear !== undefined && !anchorsDiffer(this.#tree.anchors, text)
  }

  /** Searches a text. Its matches throw `SearchTooLongError` when the engine that backtracks gives up. */
  search(text: string): Search {
    if (this.#linear && this.isLinearOn(text)) {
      return { linear: true, matches: linearMatches(this.#linear, text), steps: () => 0 }
    }
    const search = new BacktrackSearch(this.#backtrackProgram(), text)
    return { linear: false, matches: backtrackMatches(search), steps: () => search.steps }
  }

  /** Whether it matches anywhere in a text on which it is linear: faster than to look for the first match. */
  occursLinearlyIn(text: string): boolean {
    const found = this.#linear?.test(text) ?? false
    this.#releaseStates()
    return found
  }

  #backtrackProgram(): BacktrackProgram {
    this.#backtracking ??= backtrackProgram(this.#tree.root, this.#tree.groupCount)
    return this.#backtracking
  }

  /** States that searches have built are a cache of up to 8 MiB; what is remembered for long keeps a fraction. */
  #releaseStates(): void {
    const states = this.#linear?.re2().lazyDFA
    if (states && states.stateBudget - states.memBudget > limits.regexStateBytesMax) states.clearCache()
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

/** Patterns compiled before. */
const remembered = new LRUCache<string, CompiledPattern>({
  max: limits.regexCacheMax,
  maxSize: limits.regexCacheInstructionsMax,
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
  if (pattern.length > limits.regexPatternCharsMax) {
    throw new UnsupportedRegexError(`more than ${limits.regexPatternCharsMax} characters`)
  }
  const tree = readPattern(pattern)
  return new CompiledPattern(tree, compileLinear(tree))
}

/** How much longer RE2 takes to compile a character than other native calls to read one. */
const compilationsPerUnit = 8

function compileLinear(tree: PatternTree): LinearProgram | undefined {
  const linear = linearSource(tree.root)
  if (!linear) return undefined
  longCall(linear.source.length * compilationsPerUnit)
  try {
    const program = RE2JS.compile(linear.source, linear.usesLookBehind ? RE2JS.LOOKBEHINDS : 0)
    return program.programSize() > limits.regexInstructionsMax ? undefined : program
  } catch {
    // The syntax is right by now; what RE2 refuses is counts within counts and depth.
    return undefined
  }
}
