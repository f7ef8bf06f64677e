// Counts all that a plan finds, a page of documents with each query: exactly, with progress, and it can be stopped.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { RowPlan } from '../service/row-plan.ts'
import { walkCounts } from '../service/row-walk.ts'
import type { Json } from '../wire/json.ts'
import { useAction } from './load.tsx'
import { Problem } from './problem.tsx'

interface CountState {
  /** Documents that were found. */
  readonly found: number
  /** Documents that were looked at. */
  readonly looked: number
  readonly after: Json | undefined
  readonly isComplete: boolean
}

interface Counting extends CountState {
  readonly isRunning: boolean
  readonly hasBegun: boolean
  readonly error: Error | undefined
  /** Begins, or continues where it was stopped. */
  readonly start: () => void
  readonly stop: () => void
}

const nothing: CountState = { found: 0, looked: 0, after: undefined, isComplete: false }

/** A count of what a plan finds; another plan takes another component. */
function useCounting(plan: RowPlan): Counting {
  const [state, setState] = useState<CountState | undefined>(undefined)
  const latest = useRef(nothing)
  const action = useAction()
  const start = () =>
    action.start(async signal => {
      setState(latest.current)
      for await (const { found, looked, after } of walkCounts(plan, signal, latest.current.after)) {
        const before = latest.current
        latest.current = {
          found: before.found + found,
          looked: before.looked + looked,
          after,
          isComplete: after === undefined,
        }
        setState(latest.current)
      }
    })
  return {
    ...(state ?? nothing),
    hasBegun: state !== undefined,
    isRunning: action.isRunning,
    error: action.error,
    start,
    stop: action.cancel,
  }
}

/** Text of a count: whole when it is complete, else how far it is. */
export function CountProgress({ counting }: { readonly counting: Counting }) {
  const { error, found, isComplete, isRunning, looked, start, stop } = counting
  return (
    <>
      <span role="status">
        {isComplete
          ? `Exactly ${found} ${found === 1 ? 'document' : 'documents'}.`
          : `${found} counted so far; ${looked} documents looked at${isRunning ? '…' : '.'}`}
      </span>
      {isRunning && (
        <button type="button" onClick={stop}>
          Stop counting
        </button>
      )}
      {!isRunning && !isComplete && (
        <button type="button" onClick={start}>
          Continue counting
        </button>
      )}
      {error && <Problem error={error} />}
    </>
  )
}

/** A button that counts exactly, and then the count. */
export function CountAll({ plan }: { readonly plan: RowPlan }) {
  const counting = useCounting(plan)
  if (counting.hasBegun) return <CountProgress counting={counting} />
  return (
    <button type="button" onClick={counting.start}>
      Count all
    </button>
  )
}

/** A count that begins at once, for a dialog; `onCounted` is called with the result. */
export function useCountAtOnce(plan: RowPlan, onCounted: (count: number) => void): Counting {
  const counting = useCounting(plan)
  useEffect(counting.start, [])
  useEffect(() => {
    if (counting.isComplete) onCounted(counting.found)
  }, [counting.isComplete])
  return counting
}
