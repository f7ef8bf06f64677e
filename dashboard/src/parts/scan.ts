// Looks for rows document by document, with progress; what was found stays when it is stopped. Rows that have to be sorted
// are looked for to the end, and the first ones in their order are kept: memory does not grow with the collection.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isAborted } from '../service/faults.ts'
import { readAgain } from '../service/read-rows.ts'
import { compareRows, firstRows } from '../service/row-order.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkRows } from '../service/row-walk.ts'
import type { Json } from '../wire/json.ts'
import type { RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'
import { failureOf } from './load.tsx'

/** Documents that are read again at most after a change. */
const refreshedMax = 10_000

interface ScanState {
  /** In the order of the plan; where it sorts, the first ones of those that were found. */
  readonly rows: readonly Row[]
  /** Rows that were found; more than {@link rows} where not all are kept. */
  readonly found: number
  /** Documents that were looked at. */
  readonly looked: number
  /** Where the next ones begin. */
  readonly after: Json | undefined
  readonly isComplete: boolean
  readonly isRunning: boolean
  readonly error: Error | undefined
}

export interface Scan extends ScanState {
  /** Continues where it was stopped. */
  readonly goOn: () => void
  readonly stop: () => void
  /** Reads documents again that have changed; those that are gone are taken out. */
  readonly refresh: (refs: readonly RefName[]) => void
}

const nothing: ScanState = {
  rows: [],
  found: 0,
  looked: 0,
  after: undefined,
  isComplete: false,
  isRunning: true,
  error: undefined,
}

/**
 * A scan for a plan, begun anew with each of `inputs`. Without an order it stops when it has `wanted` rows, and continues when
 * `wanted` grows; with one it reads all and keeps `wanted` rows, so it begins anew when `wanted` grows.
 */
export function useScan(plan: RowPlan, wanted: number, inputs: readonly unknown[]): Scan {
  const { sort } = plan
  const [state, setState] = useState(nothing)
  const controller = useRef<AbortController | undefined>(undefined)
  const run = (from: ScanState) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setState({ ...from, isRunning: true, error: undefined })
    const change = (next: (before: ScanState) => Partial<ScanState>) => {
      if (controller.current === own) setState(before => ({ ...before, ...next(before) }))
    }
    const work = async () => {
      let { found } = from
      for await (const page of walkRows(plan, own.signal, from.after)) {
        if (own.signal.aborted) break
        found += page.rows.length
        change(before => ({
          rows: sort ? firstRows(before.rows, page.rows, sort, wanted) : [...before.rows, ...page.rows],
          found: before.found + page.rows.length,
          looked: before.looked + Number(page.looked ?? 0),
          after: page.after,
          isComplete: page.after === undefined,
        }))
        if (sort === undefined && found >= wanted) break
      }
    }
    work().then(
      () => change(() => ({ isRunning: false })),
      cause => change(() => ({ isRunning: false, error: isAborted(cause) ? undefined : failureOf(cause) })),
    )
  }
  const ranWith = useRef<readonly unknown[] | undefined>(undefined)
  useEffect(() => {
    const isSame = ranWith.current?.every((input, at) => input === inputs[at]) ?? false
    ranWith.current = inputs
    if (!isSame || sort !== undefined) run(nothing)
    else if (!state.isComplete && state.rows.length < wanted) run(state)
  }, [...inputs, wanted])
  useEffect(() => () => controller.current?.abort(), [])
  const refresh = (refs: readonly RefName[]) => {
    const signal = controller.current?.signal ?? new AbortController().signal
    readAgain(refs.slice(0, refreshedMax), plan.source, signal).then(
      now => setState(before => renewed(before, refs, now, sort)),
      cause => {
        if (!isAborted(cause)) setState(before => ({ ...before, error: failureOf(cause) }))
      },
    )
  }
  return { ...state, goOn: () => run(state), stop: () => controller.current?.abort(), refresh }
}

function renewed(
  before: ScanState,
  refs: readonly RefName[],
  now: readonly Row[],
  sort: RowPlan['sort'],
): ScanState {
  const keyOf = (ref: RefName | undefined) => `${ref?.collection}/${ref?.id}`
  const tried = new Set(refs.map(keyOf))
  const present = new Map(now.map(row => [keyOf(row.ref), row]))
  const rows = before.rows.flatMap(row => {
    const key = keyOf(row.ref)
    return tried.has(key) ? (present.get(key) ?? []) : [row]
  })
  const found = before.found - (before.rows.length - rows.length)
  const last = before.rows.at(-1)
  if (sort === undefined || last === undefined) return { ...before, rows, found }
  // Rows that were not kept come between the last one and a row that has moved behind it.
  const isWhole = before.found === before.rows.length
  const first = isWhole ? rows : rows.filter(row => compareRows(row, last, sort) <= 0)
  return { ...before, rows: firstRows([], first, sort, first.length), found }
}
