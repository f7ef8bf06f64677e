// The lines about the members of a schema item: first additions, then removals, then changes.

import type { OutlineAnnotation } from '../outline.ts'
import type { SchemaItem } from '../schema-items.ts'
import { type DiffLine, indentLine, markedLine } from './drawing.ts'
import type { ItemPair } from './item-comparison.ts'
import { type Matching, matchByKey, type Pair } from './matching.ts'

/** Creates the lines about members of one kind. */
export interface Wording<T> {
  readonly added: (member: T) => readonly DiffLine[]
  readonly removed: (member: T) => readonly DiffLine[]
  readonly changed: (pair: Pair<T>) => readonly DiffLine[]
}

export function linesOf<T>({ added, kept, removed }: Matching<T>, wording: Wording<T>): readonly DiffLine[] {
  return [
    ...added.flatMap(wording.added),
    ...removed.flatMap(wording.removed),
    ...kept.flatMap(wording.changed),
  ]
}

/** Creates a wording with the lines `add …` and `remove …`. `what` describes a member in these lines. */
export function namedWording<T>(what: (member: T) => string, changed: Wording<T>['changed']): Wording<T> {
  return {
    added: member => [markedLine('added', `add ${what(member)}`)],
    removed: member => [markedLine('removed', `remove ${what(member)}`)],
    changed,
  }
}

/** `what` describes a member in `add …` and `remove …`. `how` is the end of the line `change …`. */
export function changingWording<T>(
  what: (member: T) => string,
  isChanged: (pair: Pair<T>) => boolean,
  how = '',
): Wording<T> {
  return namedWording(what, pair =>
    isChanged(pair) ? [markedLine('changed', `change ${what(pair.before)}${how}`)] : [],
  )
}

/** The line `title`, followed by the indented `lines`. The result is empty if `lines` is empty. */
export function within(title: string, lines: readonly DiffLine[]): readonly DiffLine[] {
  return lines.length === 0 ? [] : [markedLine('changed', title), ...lines.map(indentLine)]
}

export function renameLines({ after, before }: ItemPair): readonly DiffLine[] {
  if (before === undefined || after === undefined || before.name.text === after.name.text) return []
  return [markedLine('changed', `rename to \`${after.name.text}\``)]
}

const annotationWording = changingWording<OutlineAnnotation>(
  ({ kind, name }) => `${kind} set to ${name.text}`,
  ({ before, after }) => before.name.text !== after.name.text,
)

export function annotationLines({ after, before }: ItemPair): readonly DiffLine[] {
  const inOrder = (item: SchemaItem | undefined) =>
    [...(item?.annotations ?? [])].sort((left, right) => (left.kind < right.kind ? -1 : 1))
  return linesOf(
    matchByKey(inOrder(before), inOrder(after), ({ kind }) => kind),
    annotationWording,
  )
}

export function valueLines(what: string, was: string, is: string): readonly DiffLine[] {
  return was === is ? [] : [markedLine('changed', `change ${what} from ${was} to ${is}`)]
}
