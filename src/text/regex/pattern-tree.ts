// The syntax trees of patterns, which both search engines (RE2 and the backtracking engine) compile.

import type { CharacterClass } from './character-class.ts'

/** The letters whose case is ignored. */
export type CaseFolding = 'none' | 'ascii' | 'unicode'

/**
 * Match at a position without reading characters. `lineStart` and `lineEnd` are `^` and `$` with flag `m`. For the
 * `unix` anchors, only `\n` is a line terminator.
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

/** Backtracking shortens greedy and lengthens reluctant repetitions, but never changes possessive repetitions. */
export type Manner = 'greedy' | 'reluctant' | 'possessive'

/** With flag `i`, the class contains both cases of ASCII letters. */
export interface ClassNode {
  readonly kind: 'class'
  readonly members: CharacterClass
  readonly foldsUnicode: boolean
}

interface GroupNode {
  readonly kind: 'group'
  readonly body: PatternNode
  /** Undefined for groups that do not capture. */
  readonly number: number | undefined
}

export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly least: number
  /** The maximum number of repetitions, which may be infinite. */
  readonly most: number
  readonly manner: Manner
}

/** Look-ahead or look-behind. If `negative` is true, the body must not match. */
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

export interface PatternTree {
  readonly root: PatternNode
  readonly groupCount: number
  readonly groupNames: ReadonlyMap<string, number>
  readonly anchors: ReadonlySet<Anchor>
}
