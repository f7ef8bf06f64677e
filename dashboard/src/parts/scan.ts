// Scans documents for rows, with progress. When the scan is stopped, the found rows stay on the page. A sorted scan
// reads all documents, but stores only the first rows in the sort order, so its memory does not grow with the
// collection.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isAborted } from '../service/faults.ts'
import { rereadDocuments } from '../service/read-rows.ts'
import { compareRows, firstRows } from '../service/row-order.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkRows } from '../service/row-walk.ts'
import type { Json } from '../wire/json.ts'
import type { RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'
import { handleError } from './load.tsx'

/** The maximum number of rows that are read again after a change. */
const refreshedMax = 10_000

interface ScanState {
  /** Rows in the order of the plan. A sorted scan stores only the first rows. */
  readonly rows: readonly Row[]
  /** Includes rows that are not stored in {@link rows}. */
  readonly found: number
  readonly scanned: number
  readonly after: Json | undefined
  readonly isComplete: boolean
  readonly isRunning: boolean
  readonly error: Error | undefined
}

export interface Scan extends ScanState {
  /** Continues a stopped scan. */
  readonly resume: () => void
  readonly stop: () => void
  /** Reads changed documents again, and removes deleted ones from the rows. */
  readonly refresh: (refs: readonly RefName[]) => void
}

const nothing: ScanState = {
  rows: [],
  found: 0,
  scanned: 0,
  after: undefined,
  isComplete: false,
  isRunning: true,
  error: undefined,
}

/**
 * Restarts when one of `inputs` changes. An unsorted scan stops when it has `wanted` rows, and continues when `wanted`
 * grows. A sorted scan reads all documents and stores `wanted` rows, so another value of `wanted` restarts the scan.
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
          scanned: before.scanned + Number(page.scanned ?? 0),
          after: page.after,
          isComplete: page.after === undefined,
        }))
        if (sort === undefined && found >= wanted) break
      }
    }
    work().then(
      () => change(() => ({ isRunning: false })),
      cause => change(() => ({ isRunning: false, error: isAborted(cause) ? undefined : handleError(cause) })),
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
    rereadDocuments(refs.slice(0, refreshedMax), plan.source, signal).then(
      now => setState(before => withRereadRows(before, refs, now, sort)),
      cause => {
        if (!isAborted(cause)) setState(before => ({ ...before, error: handleError(cause) }))
      },
    )
  }
  return { ...state, resume: () => run(state), stop: () => controller.current?.abort(), refresh }
}

function withRereadRows(
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
  // If a changed row now sorts after the last row in memory, rows that are not in memory may come before the changed
  // row, so the changed row is dropped.
  const hasAllRows = before.found === before.rows.length
  const first = hasAllRows ? rows : rows.filter(row => compareRows(row, last, sort) <= 0)
  return { ...before, rows: firstRows([], first, sort, first.length), found }
}
