// Loads data for a page. Loaded data stays on the screen during a reload, and leaving a page cancels its requests.

import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ChangedError } from '../service/checked-writes.ts'
import { isAborted, ServiceError } from '../service/faults.ts'
import { handleRejectedSecret, session } from '../session.ts'
import { Problem } from './problem.tsx'

export interface LoadState<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  /** The old data is shown until the new data arrives. */
  readonly reload: () => void
}

/** Converts a thrown value to an Error. Calls {@link handleRejectedSecret} if the service has rejected the secret. */
export function handleError(cause: unknown): Error {
  if (cause instanceof ServiceError && cause.status === 401) void handleRejectedSecret()
  return cause instanceof Error ? cause : new Error(String(cause))
}

/**
 * Runs `load` at once and whenever one of `inputs` changes, and first aborts the previous run. The database is not
 * among the inputs, because each database has its own instance of a page.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): LoadState<T> {
  const [state, setState] = useState<Omit<LoadState<T>, 'reload'>>({
    data: undefined,
    error: undefined,
    isLoading: true,
  })
  const [reloads, setReloads] = useState(0)
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
        setState(before => ({ ...before, error: handleError(cause), isLoading: false }))
      },
    )
    return () => controller.abort()
    // A sign-in with another secret may bring other rights.
  }, [...inputs, reloads, session.value?.secret])
  const reload = useCallback(() => setReloads(now => now + 1), [])
  return { ...state, reload }
}

interface LoadedProps<T> {
  readonly of: LoadState<T>
  readonly children: (data: T) => ComponentChildren
}

/** The loaded data, a loading message, or the error. */
export function LoadedContent<T>({ of, children }: LoadedProps<T>) {
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

/** Reloads after a {@link ChangedError}, so that the page shows the new version, and rethrows the error. */
export function reloadIfChanged(reload: () => void): (cause: unknown) => never {
  return cause => {
    if (cause instanceof ChangedError) reload()
    throw cause
  }
}

export interface Action {
  readonly isRunning: boolean
  readonly error: Error | undefined
  readonly start: (work: (signal: AbortSignal) => Promise<void>) => void
  readonly clear: () => void
  /** Aborts the running action. */
  readonly cancel: () => void
}

/** Runs one action at a time. Starting another action or leaving the page cancels the running action. */
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
      cause => finish(isAborted(cause) ? undefined : handleError(cause)),
    )
  }, [])
  const clear = useCallback(() => setError(undefined), [])
  const cancel = useCallback(() => controller.current?.abort(), [])
  return { isRunning, error, start, clear, cancel }
}
