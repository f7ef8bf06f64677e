// Compares two schemas item by item, and renders the differences as a summary with a line for each item, or in detail
// (the format `semantic` of requests).

import { itemKinds } from '../definition-of-item.ts'
import { itemKey } from '../patch.ts'
import type { SchemaItem } from '../schema-items.ts'
import { type Coloring, type DiffLine, indentLine, renderLines } from './drawing.ts'
import type { Findings, ItemPair } from './item-comparison.ts'
import { diffOfItem } from './item-diff.ts'
import { matchByKey } from './matching.ts'

export interface ItemChange extends ItemPair {
  readonly diff: Findings
}

interface DiffContext {
  /** Lines about an item's migrations. Undefined without migrations; can be empty, because some steps have no line. */
  readonly fieldLines?: (item: SchemaItem) => readonly DiffLine[] | undefined
  /** The new keys of renamed items, by old key. */
  readonly renamed?: ReadonlyMap<string, string> | undefined
}

/** First the added items, then the removed items, then the modified items. Each group is sorted by kind and name. */
export function changesOf(
  before: readonly SchemaItem[],
  after: readonly SchemaItem[],
  { fieldLines, renamed }: DiffContext = {},
): readonly ItemChange[] {
  const old = new Set(before)
  const keyOf = (item: SchemaItem) =>
    (old.has(item) ? renamed?.get(itemKey(item)) : undefined) ?? itemKey(item)
  const { added, kept, removed } = matchByKey(before, after, keyOf)
  const changeOf = (pair: ItemPair, lines?: readonly DiffLine[]) => ({
    ...pair,
    diff: diffOfItem(pair, lines),
  })
  return [
    ...sorted(added.map(item => changeOf({ before: undefined, after: item }))),
    ...sorted(removed.map(item => changeOf({ before: item, after: undefined }))),
    ...sorted(kept.map(pair => changeOf(pair, fieldLines?.(pair.after)))).filter(
      ({ diff }) => diff.isDifferent,
    ),
  ]
}

function sorted(changes: readonly ItemChange[]): readonly ItemChange[] {
  const rank = ({ after, before }: ItemChange) => {
    const item = (before ?? after) as SchemaItem
    return { kind: itemKinds.indexOf(item.kind), name: item.name.text }
  }
  return [...changes].sort((left, right) => {
    const [one, other] = [rank(left), rank(right)]
    return one.kind - other.kind || (one.name < other.name ? -1 : 1)
  })
}

/** Renders one line for each change. `''` without changes. */
export function summaryDiff(changes: readonly ItemChange[], coloring: Coloring): string {
  return renderLines(
    changes.map(change => ({ tone: 'title', text: titleOf(change) })),
    coloring,
  )
}

/** Renders the differences of an item in groups, each with an empty line at the end. `''` without changes. */
export function semanticDiff(changes: readonly ItemChange[], coloring: Coloring): string {
  return renderLines(changes.flatMap(itemLines), coloring)
}

const empty: DiffLine = { tone: 'plain', text: '' }

function itemLines(change: ItemChange): readonly DiffLine[] {
  const { diff } = change
  const title = titleOf(change)
  // A diff lists no parts of some added or removed items, such as a function without annotations.
  if (!diff.isDifferent) return [{ tone: 'title', text: title }, empty]
  const details: DiffLine[] = []
  for (const group of diff.groups) {
    if (group.title !== undefined) details.push({ tone: 'title', text: `* ${group.title}:` })
    details.push(...group.lines, empty)
  }
  if (details.length === 0) details.push({ tone: 'plain', text: 'No semantic changes.' }, empty)
  return [{ tone: 'title', text: `${title}:` }, ...details.map(indentLine)]
}

function titleOf({ after, before }: ItemChange): string {
  if (before === undefined && after !== undefined) return `* Adding ${named(after)} to ${startOf(after)}`
  if (before !== undefined && after === undefined)
    return `* Removing ${named(before)} from ${startOf(before)}`
  const [was, is] = [before as SchemaItem, after as SchemaItem]
  const moved = was.source.name === is.source.name ? '' : ` (previously defined at ${startOf(was)})`
  return `* Modifying ${named(was)} at ${startOf(is)}${moved}`
}

function named({ kind, name }: SchemaItem): string {
  return `${kind} \`${name.text}\``
}

/** File, line and column of the item's start: an item includes the comment and the annotations above it. */
function startOf({ commentStart, source }: SchemaItem): string {
  return source.positionText(commentStart)
}
