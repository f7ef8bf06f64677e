// The syntax trees of patterns. Both search engines (RE2 and the backtracking engine) compile these trees.

import type { CharacterClass } from './character-class.ts'

/** The letters whose case is ignored: none, ASCII letters, or all Unicode letters. */
export type CaseFolding = 'none' | 'ascii' | 'unicode'

/**
 * Assertions that match at a position without reading characters. `lineStart` and `lineEnd` are `^` and `$` with flag
 * `m`. For the `unix` anchors, only `\n` is a line terminator.
 */
export type Anchor =
  | 'textStart'
  | 'textEnd'
  | 'lastLineEnd'
  | 'unixLastLineEnd'
  | 'lineStart'
  | 'unixLineStart'
  | 'lineEnd'
  | 'unixLineEnd'
  | 'boundary'
  | 'unicodeBoundary'
  | 'noBoundary'
  | 'unicodeNoBoundary'
  | 'previousEnd'

/**
 * The kind of a repetition. Backtracking shortens greedy repetitions and lengthens reluctant repetitions, but never
 * changes possessive repetitions.
 */
export type Manner = 'greedy' | 'reluctant' | 'possessive'

/** Matches a character of a class. With flag `i`, the class contains both cases of ASCII letters. */
export interface ClassNode {
  readonly kind: 'class'
  readonly members: CharacterClass
  readonly foldsUnicode: boolean
}

interface GroupNode {
  readonly kind: 'group'
  readonly body: PatternNode
  /** The number of a capturing group. Undefined for other groups. */
  readonly number: number | undefined
}

export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly least: number
  /** The maximum number of repetitions, or infinity. */
  readonly most: number
  readonly manner: Manner
}

/** Look-ahead or look-behind. Reads no characters. The body must match, or must not match if `negative` is true. */
export interface LookNode {
  readonly kind: 'look'
  readonly body: PatternNode
  readonly behind: boolean
  readonly negative: boolean
}

export type PatternNode =
  | ClassNode
  | GroupNode
  | RepeatNode
  | LookNode
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'alternatives'; readonly branches: readonly PatternNode[] }
  | { readonly kind: 'atomic'; readonly body: PatternNode }
  | { readonly kind: 'anchor'; readonly anchor: Anchor }
  | { readonly kind: 'backReference'; readonly group: number; readonly folding: CaseFolding }
  | { readonly kind: 'lineBreak' }

/** A parsed pattern. */
export interface PatternTree {
  readonly root: PatternNode
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
  readonly anchors: ReadonlySet<Anchor>
}
