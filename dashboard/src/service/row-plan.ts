// Plans how to find the rows of a view. An index can support a condition or the order; a scan tests the other
// conditions.

import { type Json, writeJson } from '../wire/json.ts'
import type { Condition } from './conditions.ts'
import type { IndexShape, RowSource } from './row-source.ts'

/** The user's choice of rows of a collection. */
export interface RowView {
  /** The source uses the index that the user chose, if any. */
  readonly source: RowSource
  readonly conditions: readonly Condition[]
  /** A field, {@link byTime} for the last change, or undefined for the order of the source. */
  readonly sort: string | undefined
}

/** Replaces the name of a field: the time of a document's last change. */
export const byTime = '@ts'

export interface RowPlan {
  readonly source: RowSource
  /** All conditions, including those that the index fulfils. */
  readonly filter: readonly Condition[]
  /** Conditions that are tested on each document of the source. */
  readonly conditions: readonly Condition[]
  /** The page sorts the rows after the scan; undefined if the source already returns rows in the wanted order. */
  readonly sort: { readonly field: string; readonly isReversed: boolean } | undefined
  /** The index that the plan selects; undefined without an index, or with an index that the user chose. */
  readonly selectedIndex: string | undefined
}

export function planOf(view: RowView, indexes: readonly IndexShape[]): RowPlan {
  const { conditions, sort, source } = view
  const { collection, isReversed } = source
  const pageSort = sort === undefined ? undefined : { field: sort, isReversed }
  const whole = { filter: conditions, conditions, selectedIndex: undefined }
  if (source.index !== undefined) {
    const reversal = reversalOf(source.index, sort, isReversed)
    if (reversal === undefined) return { ...whole, source: { ...source, isReversed: false }, sort: pageSort }
    return { ...whole, source: { ...source, isReversed: reversal }, sort: undefined }
  }
  const best = indexes
    .filter(({ isActive, isSelectable }) => isActive && isSelectable)
    .map(index => matchIndex(index, view))
    .filter(each => each !== undefined)
    .sort((left, right) => right.score - left.score)[0]
  if (best === undefined) {
    return { ...whole, source: { ...source, isReversed: sort === undefined && isReversed }, sort: pageSort }
  }
  const { index, isReversed: reversal, terms, used } = best
  return {
    source: { collection, index, terms, isReversed: reversal ?? false },
    filter: conditions,
    conditions: conditions.filter(condition => !used.includes(condition)),
    sort: reversal === undefined ? pageSort : undefined,
    selectedIndex: index.name,
  }
}

interface IndexMatch {
  readonly index: IndexShape
  readonly terms: readonly Json[]
  readonly used: readonly Condition[]
  /** See {@link reversalOf}. */
  readonly isReversed: boolean | undefined
  readonly score: number
}

/** Returns undefined if the index does not help. */
function matchIndex(index: IndexShape, { conditions, sort, source }: RowView): IndexMatch | undefined {
  const used = index.termPaths.map(path => conditions.find(condition => isServed(condition, path)))
  if (!used.every(condition => condition !== undefined)) return undefined
  const isReversed = reversalOf(index, sort, source.isReversed)
  // Fewer documents to read are worth more than their order.
  const score = used.length * 2 + (sort !== undefined && isReversed !== undefined ? 1 : 0)
  if (score === 0) return undefined
  return { index, terms: used.map(({ value }) => value), used, isReversed, score }
}

/** True if a lookup by a term of an index fulfils a condition. Indexes have no entries for null. */
function isServed({ operator, path, value }: Condition, of: readonly string[] | undefined): boolean {
  return operator === 'is' && value !== null && of !== undefined && isSame(path, of)
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return writeJson(left) === writeJson(right)
}

/** Returns whether an index must be read in reverse for the wanted order; undefined if the index has another order. */
function reversalOf(index: IndexShape, sort: string | undefined, isReversed: boolean): boolean | undefined {
  if (sort === undefined) return isReversed
  const { order } = index
  return order !== undefined && isSame(order.path, [sort]) ? order.isReversed !== isReversed : undefined
}

/** True if the plan must scan every document of the source. */
export function needsScan({ conditions, sort }: RowPlan): boolean {
  return conditions.length > 0 || sort !== undefined
}
