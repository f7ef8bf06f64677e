// Counts all documents that a plan finds, exactly, with one query per page. Shows the progress and can be stopped.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RowPlan } from '../service/row-plan.ts'
import { walkCounts } from '../service/row-walk.ts'
import type { Json } from '../wire/json.ts'
import { Button } from './button.tsx'
import { useEstimate } from './estimate.ts'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'
import { documentsText } from './quantities.ts'

interface CountState {
  readonly found: number
  readonly scanned: number
  readonly after: Json | undefined
  readonly isComplete: boolean
}

interface Counting extends CountState {
  readonly plan: RowPlan
  readonly isRunning: boolean
  readonly hasStarted: boolean
  readonly error: Error | undefined
  /** Also continues a stopped count. */
  readonly start: () => void
  readonly stop: () => void
}

const nothing: CountState = { found: 0, scanned: 0, after: undefined, isComplete: false }

/** For another plan, the caller renders another component instance. */
function useCounting(plan: RowPlan): Counting {
  const [state, setState] = useState<CountState | undefined>(undefined)
  const latest = useRef(nothing)
  const action = useAction()
  const start = () =>
    action.start(async signal => {
      setState(latest.current)
      for await (const { found, scanned, after } of walkCounts(plan, signal, latest.current.after)) {
        const before = latest.current
        latest.current = {
          found: before.found + found,
          scanned: before.scanned + scanned,
          after,
          isComplete: after === undefined,
        }
        setState(latest.current)
      }
    })
  return {
    ...(state ?? nothing),
    plan,
    hasStarted: state !== undefined,
    isRunning: action.isRunning,
    error: action.error,
    start,
    stop: action.cancel,
  }
}

/** Shows the progress of a count, with buttons that stop and continue the count. */
export function CountProgress({ counting }: { readonly counting: Counting }) {
  const { error, found, isComplete, isRunning, plan, scanned, start, stop } = counting
  const estimate = useEstimate(plan.source, counting)
  return (
    <>
      <span role="status">
        {isComplete
          ? `Exactly ${documentsText(found)}.`
          : `${found} counted so far; ${scanned} documents scanned${estimate}${isRunning ? '…' : '.'}`}
      </span>
      {isRunning && <Button onClick={stop}>Stop counting</Button>}
      {!isRunning && !isComplete && <Button onClick={start}>Continue counting</Button>}
      {error && <Problem error={error} />}
    </>
  )
}

export function CountAll({ plan }: { readonly plan: RowPlan }) {
  const counting = useCounting(plan)
  if (counting.hasStarted) return <CountProgress counting={counting} />
  return <Button onClick={counting.start}>Count all</Button>
}

/** Counts at once, for a dialog. Calls `onCounted` with the result. */
export function useCountAtOnce(plan: RowPlan, onCounted: (count: number) => void): Counting {
  const counting = useCounting(plan)
  useEffect(counting.start, [])
  useEffect(() => {
    if (counting.isComplete) onCounted(counting.found)
  }, [counting.isComplete])
  return counting
}
