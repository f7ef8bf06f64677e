// The syntax trees of patterns. The parser creates them, and both engines compile them.

import type { CharacterClass } from './character-class.ts'

/** The letters whose case is ignored: none, ASCII letters, or all letters of Unicode. */
export type CaseFolding = 'none' | 'ascii' | 'unicode'

/**
 * Assertions that match a position and read no characters. `lineStart` and `lineEnd` are `^` and `$` with flag `m`. The
 * `unix` anchors only recognize `\n` as a line terminator.
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

/** The kind of a repetition. A possessive repetition never gives characters back. */
export type Manner = 'greedy' | 'reluctant' | 'possessive'

/** Matches one character of a class. If flag `i` is on, the class contains both cases of each of its ASCII letters. */
export interface ClassNode {
  readonly kind: 'class'
  readonly members: CharacterClass
  readonly foldsUnicode: boolean
}

interface GroupNode {
  readonly kind: 'group'
  readonly body: PatternNode
  /** The number of the group, if it is a capturing group; undefined for other groups. */
  readonly number: number | undefined
}

/** A repeated node. */
export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly least: number
  /** Infinity if the number of repetitions is unlimited. */
  readonly most: number
  readonly manner: Manner
}

/**
 * Look-ahead or look-behind. The body must match, or must not match if `negative` is true. The node reads no
 * characters.
 */
export interface LookNode {
  readonly kind: 'look'
  readonly body: PatternNode
  readonly behind: boolean
  readonly negative: boolean
}

/** A node of a pattern. */
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
  /** The numbers of the named groups, by name. */
  readonly groupNames: ReadonlyMap<string, number>
  /** The anchors that occur in the pattern. */
  readonly anchors: ReadonlySet<Anchor>
}
