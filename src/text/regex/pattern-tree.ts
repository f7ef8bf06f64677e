// Syntax trees of patterns: the output of the parser and the input of both engines.

import type { CharacterClass } from './character-class.ts'

/** Which characters of different case count as equal. */
export type CaseFolding = 'none' | 'ascii' | 'unicode'

/**
 * Zero-width assertions. `lineStart` and `lineEnd` are `^` and `$` with flag `m`; the `unix` anchors recognize only
 * `\n`.
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

/** The kind of a quantifier. A possessive quantifier never backtracks. */
export type Manner = 'greedy' | 'reluctant' | 'possessive'

/** A character of a class. The class includes the other cases of ASCII letters when flag `i` is on. */
export interface ClassNode {
  readonly kind: 'class'
  readonly members: CharacterClass
  readonly foldsUnicode: boolean
}

interface GroupNode {
  readonly kind: 'group'
  readonly body: PatternNode
  /** The number of a capturing group; undefined for other groups. */
  readonly number: number | undefined
}

/** A repeated node. */
export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly least: number
  /** Infinity for no limit. */
  readonly most: number
  readonly manner: Manner
}

/**
 * Look-ahead or look-behind: the body must match, or must not match if `negative` is set. It consumes no characters.
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
  /** Numbers of the named groups. */
  readonly groupNames: ReadonlyMap<string, number>
  /** The anchors that occur in the pattern. */
  readonly anchors: ReadonlySet<Anchor>
}
