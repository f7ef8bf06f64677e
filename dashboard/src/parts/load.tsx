// Loading data for a page: what is loaded stays on the screen while it is loaded anew, and requests of a page that is
// left are cancelled.

import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ChangedError } from '../service/checked.ts'
import { isAborted, ServiceError } from '../service/faults.ts'
import { secretRefused, session } from '../session.ts'
import { Problem } from './problem.tsx'

export interface Loading<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** Loads again, keeping what is shown until the new data is there. */
  readonly reload: () => void
}

/** Makes an error of whatever was thrown; a secret that is not accepted any more ends the session. */
export function failureOf(cause: unknown): Error {
  if (cause instanceof ServiceError && cause.status === 401) void secretRefused()
  return cause instanceof Error ? cause : new Error(String(cause))
}

/** Runs `load` at once and whenever one of `inputs` changes, each time with a signal that aborts the time before. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Loading<T> {
  const [state, setState] = useState<Omit<Loading<T>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const shownInputs = useRef(inputs)
  useEffect(() => {
    const controller = new AbortController()
    const isSame = shownInputs.current.every((input, at) => input === inputs[at])
    shownInputs.current = inputs
    setState(before => ({ data: isSame ? before.data : undefined, error: undefined, isLoading: true }))
    load(controller.signal).then(
      data => {
        if (!controller.signal.aborted) setState({ data, error: undefined, isLoading: false })
      },
      cause => {
        if (controller.signal.aborted || isAborted(cause)) return
        setState(before => ({ ...before, error: failureOf(cause), isLoading: false }))
      },
    )
    return () => controller.abort()
    // Who signs in again sees what the secret before could not read.
  }, [...inputs, turn, session.value?.secret])
  const reload = useCallback(() => setTurn(now => now + 1), [])
  return { ...state, reload }
}

interface LoadedProps<T> {
  readonly of: Loading<T>
  readonly children: (data: T) => ComponentChildren
}

/** Shows loaded data, or that it is on its way, or why it could not be loaded. */
export function Loaded<T>({ of, children }: LoadedProps<T>) {
  const { data, error, isLoading, reload } = of
  return (
    <>
      {error && <Problem error={error} retry={reload} />}
      {data === undefined && isLoading && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
      {data !== undefined && <div class={isLoading ? 'stale' : undefined}>{children(data)}</div>}
    </>
  )
}

/** Reads a page anew when an action on it finds that somebody else has changed what is shown; the error goes on. */
export function reloading(reload: () => void): (cause: unknown) => never {
  return cause => {
    if (cause instanceof ChangedError) reload()
    throw cause
  }
}

/** An action that a person starts: whether it runs, and how it failed. */
export interface Action {
  readonly isRunning: boolean
  readonly error: Error | undefined
  readonly start: (work: (signal: AbortSignal) => Promise<void>) => void
  readonly clear: () => void
  /** Ends what runs, as leaving the page does. */
  readonly cancel: () => void
}

/** Runs actions one at a time; the one under way is cancelled when the page is left. */
export function useAction(): Action {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<Error | undefined>(undefined)
  const controller = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  const start = useCallback((work: (signal: AbortSignal) => Promise<void>) => {
    controller.current?.abort()
    const own = new AbortController()
    controller.current = own
    setRunning(true)
    setError(undefined)
    const finish = (failure: Error | undefined) => {
      if (controller.current !== own) return
      setRunning(false)
      setError(failure)
    }
    work(own.signal).then(
      () => finish(undefined),
      cause => finish(isAborted(cause) ? undefined : failureOf(cause)),
    )
  }, [])
  const clear = useCallback(() => setError(undefined), [])
  const cancel = useCallback(() => controller.current?.abort(), [])
  return { isRunning, error, start, clear, cancel }
}
