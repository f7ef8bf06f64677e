// Sorts rows by a field that no index sorts by. While all pages are read, only the first rows are in memory, so memory
// does not grow with the collection.

import { isMap, type Json } from '../wire/json.ts'
import type { Row } from '../wire/rows.ts'
import { byTime, type RowPlan } from './row-plan.ts'

/** Rows without the field come last in both directions. */
type RowOrder = NonNullable<RowPlan['sort']>

/** The first `limit` rows of `sorted`, which is already sorted, and `page` together. The sort is stable. */
export function firstRows(
  sorted: readonly Row[],
  page: readonly Row[],
  order: RowOrder,
  limit: number,
): readonly Row[] {
  const last = sorted.length < limit ? undefined : sorted.at(-1)
  const candidates = last === undefined ? page : page.filter(row => compareRows(row, last, order) < 0)
  if (candidates.length === 0) return sorted
  return [...sorted, ...candidates].sort((left, right) => compareRows(left, right, order)).slice(0, limit)
}

/** Comparison function for `Array.prototype.sort`. */
export function compareRows(left: Row, right: Row, { field, isReversed }: RowOrder): number {
  const leftValue = valueIn(left, field)
  const rightValue = valueIn(right, field)
  const missing = Number(leftValue === null) - Number(rightValue === null)
  return missing || (isReversed ? -1 : 1) * compare(leftValue, rightValue)
}

function valueIn(row: Row, field: string): Json {
  return (field === byTime ? row.ts : row.cells.get(field)) ?? null
}

const collator = new Intl.Collator('en')

function compare(left: Json, right: Json): number {
  const ranks = rankOf(left) - rankOf(right)
  if (ranks !== 0) return ranks
  if (typeof left === 'string' && typeof right === 'string') return collator.compare(left, right)
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0
  const [leftText, rightText] = [textOf(left), textOf(right)]
  return leftText < rightText ? -1 : leftText > rightText ? 1 : 0
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Returns the position of a type in the order: numbers, texts, tagged values such as times, booleans, lists. */
function rankOf(value: Json): number {
  if (isNumber(value)) return 0
  if (typeof value === 'string') return 1
  if (isMap(value)) return 2
  return typeof value === 'boolean' ? 3 : 4
}

/** Texts of tagged times and dates sort chronologically. */
function textOf(value: Json): string {
  if (!isMap(value)) return String(value)
  const [inner] = value.values()
  return typeof inner === 'string' ? inner : ''
}
