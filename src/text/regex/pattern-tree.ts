// Patterns as trees: what the reader of Java's syntax makes, and what both engines are given.

import type { CharacterClass } from './character-class.ts'

/** Which characters of different case are equal. */
export type CaseFolding = 'none' | 'ascii' | 'unicode'

/** Places without width. `lineStart` and `lineEnd` are `^` and `$` with flag `m`; the `unix` ones know `\n` alone. */
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

/** How a repetition chooses between more and fewer. A possessive one never gives back. */
export type Manner = 'greedy' | 'reluctant' | 'possessive'

/** One character of a class; what `i` adds of ASCII is in the class. */
export interface ClassNode {
  readonly kind: 'class'
  readonly members: CharacterClass
  readonly foldsUnicode: boolean
}

interface GroupNode {
  readonly kind: 'group'
  readonly body: PatternNode
  /** The number of a capturing group. */
  readonly number: number | undefined
}

/** A part that is repeated. */
export interface RepeatNode {
  readonly kind: 'repeat'
  readonly body: PatternNode
  readonly least: number
  /** Infinity for no bound. */
  readonly most: number
  readonly manner: Manner
}

/** A part that has to match, or must not, without being consumed. */
export interface LookNode {
  readonly kind: 'look'
  readonly body: PatternNode
  readonly behind: boolean
  readonly negative: boolean
}

/** A part of a pattern. */
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

/** A pattern that has been read. */
export interface PatternTree {
  readonly root: PatternNode
  readonly groupCount: number
  /** Numbers of the named groups. */
  readonly groupNames: ReadonlyMap<string, number>
  /** The anchors that occur. */
  readonly anchors: ReadonlySet<Anchor>
}
