// Looks for rows document by document, as far as they are wanted, with progress; what was found stays when it is stopped.

import { useEffect, useRef, useState } from 'preact/hooks'
import { isAborted } from '../service/faults.ts'
import { readAgain } from '../service/read-rows.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { walkRows } from '../service/row-walk.ts'
import type { Json } from '../wire/json.ts'
import type { RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'
import { failureOf } from './load.tsx'

/** Rows that are held for sorting. */
export const sortedMax = 10_000

interface ScanState {
  readonly rows: readonly Row[]
  /** Documents that were looked at. */
  readonly looked: number
  /** Where the next ones begin. */
  readonly after: Json | undefined
  readonly isComplete: boolean
  readonly isRunning: boolean
  readonly error: Error | undefined
}

export interface Scan extends ScanState {
  /** Goes on until there are so many rows. */
  readonly goOn: (wanted: number) => void
  readonly stop: () => void
  /** Reads documents again that have changed; those that are gone are taken out. */
  readonly refresh: (refs: readonly RefName[]) => void
}

const nothing: ScanState = {
  rows: [],
  looked: 0,
  after: undefined,
  isComplete: false,
  isRunning: true,
  error: undefined,
}

/** A scan for a plan, begun anew with each of `inputs`; the first stretch goes on until there are `wanted` rows. */
export function useScan(plan: RowPlan, wanted: number, inputs: readonly unknown[]): Scan {
  const [state, setState] = useState(nothing)
  const controller = useRef<AbortController | undefined>(undefined)
  const run = (from: ScanState, goal: number) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setState({ ...from, isRunning: true, error: undefined })
    const change = (next: (before: ScanState) => Partial<ScanState>) => {
      if (controller.current === own) setState(before => ({ ...before, ...next(before) }))
    }
    const work = async () => {
      let found = from.rows.length
      for await (const page of walkRows(plan, own.signal, from.after)) {
        if (own.signal.aborted) break
        found += page.rows.length
        change(before => ({
          rows: [...before.rows, ...page.rows],
          looked: before.looked + Number(page.looked ?? 0),
          after: page.after,
          isComplete: page.after === undefined,
        }))
        if (found >= goal) break
      }
    }
    work().then(
      () => change(() => ({ isRunning: false })),
      cause => change(() => ({ isRunning: false, error: isAborted(cause) ? undefined : failureOf(cause) })),
    )
  }
  useEffect(() => {
    run(nothing, wanted)
    return () => controller.current?.abort()
  }, inputs)
  const refresh = (refs: readonly RefName[]) => {
    const signal = controller.current?.signal ?? new AbortController().signal
    readAgain(refs.slice(0, sortedMax), plan.source, signal).then(
      now => setState(before => ({ ...before, rows: renewed(before.rows, refs, now) })),
      cause => {
        if (!isAborted(cause)) setState(before => ({ ...before, error: failureOf(cause) }))
      },
    )
  }
  return { ...state, goOn: goal => run(state, goal), stop: () => controller.current?.abort(), refresh }
}

function renewed(rows: readonly Row[], refs: readonly RefName[], now: readonly Row[]): readonly Row[] {
  const keyOf = (ref: RefName | undefined) => `${ref?.collection}/${ref?.id}`
  const tried = new Set(refs.map(keyOf))
  const present = new Map(now.map(row => [keyOf(row.ref), row]))
  return rows.flatMap(row => {
    const key = keyOf(row.ref)
    return tried.has(key) ? (present.get(key) ?? []) : [row]
  })
}
