// How rows are found: by an index as far as one serves, and by looking at each document for the rest.

import { type Json, writeJson } from '../wire/json.ts'
import type { Condition } from './conditions.ts'
import type { IndexShape, RowSource } from './row-source.ts'

/** What is to be shown of a collection. */
export interface RowView {
  /** With the index that was chosen, if one was. */
  readonly source: RowSource
  readonly conditions: readonly Condition[]
  /** The field that rows are sorted by; {@link byTime} for when they changed; undefined for the order of the source. */
  readonly sort: string | undefined
}

/** Stands in the place of a field for the time of a document's last change. */
export const byTime = '@ts'

export interface RowPlan {
  readonly source: RowSource
  /** All conditions of the view, also those that an index serves. */
  readonly filter: readonly Condition[]
  /** What has to be looked for in each document of the source. */
  readonly conditions: readonly Condition[]
  /** What has to be sorted once all are found; undefined where the source is in order. */
  readonly sort: { readonly field: string; readonly isReversed: boolean } | undefined
  /** The name of the index that was found to serve; undefined where none is needed, none does, or one was chosen. */
  readonly served: string | undefined
}

/** The plan for a view with the indexes that there are. */
export function planOf(view: RowView, indexes: readonly IndexShape[]): RowPlan {
  const { conditions, sort, source } = view
  const { collection, isReversed } = source
  const byHand = sort === undefined ? undefined : { field: sort, isReversed }
  const whole = { filter: conditions, conditions, served: undefined }
  if (source.index !== undefined) {
    const reversed = orderOf(source.index, sort, isReversed)
    if (reversed === undefined) return { ...whole, source: { ...source, isReversed: false }, sort: byHand }
    return { ...whole, source: { ...source, isReversed: reversed }, sort: undefined }
  }
  const best = indexes
    .filter(({ isActive, isWhole }) => isActive && isWhole)
    .map(index => served(index, view))
    .filter(each => each !== undefined)
    .sort((left, right) => right.score - left.score)[0]
  if (best === undefined) {
    return { ...whole, source: { ...source, isReversed: byHand === undefined && isReversed }, sort: byHand }
  }
  const { index, order, terms, used } = best
  return {
    source: { collection, index, terms, isReversed: order ?? false },
    filter: conditions,
    conditions: conditions.filter(condition => !used.includes(condition)),
    sort: order === undefined ? byHand : undefined,
    served: index.name,
  }
}

interface Served {
  readonly index: IndexShape
  readonly terms: readonly Json[]
  readonly used: readonly Condition[]
  /** Whether to read it from its end for the order wanted; undefined where it has another order. */
  readonly order: boolean | undefined
  readonly score: number
}

/** What an index can do for a view; undefined when that is nothing. */
function served(index: IndexShape, { conditions, sort, source }: RowView): Served | undefined {
  const used = index.termPaths.map(path => conditions.find(condition => isServed(condition, path)))
  if (!used.every(condition => condition !== undefined)) return undefined
  const order = orderOf(index, sort, source.isReversed)
  const score = used.length * 2 + (sort !== undefined && order !== undefined ? 1 : 0)
  if (score === 0) return undefined
  return { index, terms: used.map(({ value }) => value), used, order, score }
}

/** Entries exist for values only. */
function isServed({ operator, path, value }: Condition, of: readonly string[] | undefined): boolean {
  return operator === 'is' && value !== null && of !== undefined && isSame(path, of)
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return writeJson(left) === writeJson(right)
}

function orderOf(index: IndexShape, sort: string | undefined, isReversed: boolean): boolean | undefined {
  if (sort === undefined) return isReversed
  const { order } = index
  return order !== undefined && isSame(order.path, [sort]) ? order.isReversed !== isReversed : undefined
}

/** Whether every document of the source has to be looked at. */
export function needsScan({ conditions, sort }: RowPlan): boolean {
  return conditions.length > 0 || sort !== undefined
}
