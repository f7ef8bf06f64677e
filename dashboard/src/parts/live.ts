// Follows changes: an event stream reports added and removed elements at once, and polling finds changes that have no
// events. A hidden tab does not poll.

import { useEffect, useRef } from 'preact/hooks'
import { follow } from '../service/client.ts'
import { currentSecret } from '../session.ts'
import { type Query, writeJson } from '../wire/json.ts'

/** Events within this number of milliseconds cause a single callback. */
const gatherMs = 200
const reopenAfterMs = 3000

/**
 * Calls `onChange` for events of the stream that `query` opens, and every `everyMs` milliseconds, if given. Does
 * nothing while `query` is undefined.
 */
export function useLive(query: Query | undefined, onChange: () => void, everyMs?: number): void {
  const latest = useRef(onChange)
  latest.current = onChange
  const key = query === undefined ? undefined : writeJson(query)
  useEffect(() => {
    if (query === undefined) return
    const controller = new AbortController()
    let gathered: ReturnType<typeof setTimeout> | undefined
    // The start of the stream counts as an event, because data may have changed before the stream was open.
    const onEvent = () => {
      gathered ??= setTimeout(() => {
        gathered = undefined
        latest.current()
      }, gatherMs)
    }
    void keepFollowing(query, onEvent, controller.signal)
    return () => {
      controller.abort()
      clearTimeout(gathered)
    }
  }, [key, currentSecret.value.secret])
  useEvery(query === undefined ? undefined : everyMs, onChange)
}

/** Opens the stream again when it ends, for example after a restart of the service. */
async function keepFollowing(query: Query, onEvent: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // The requests of the page show the error.
    await follow(query, currentSecret.value, onEvent, signal).catch(() => undefined)
    if (!signal.aborted) await new Promise(resolve => setTimeout(resolve, reopenAfterMs))
    if (!signal.aborted) onEvent()
  }
}

/** Calls `callback` at an interval while the tab is visible; never while `everyMs` is undefined. */
export function useEvery(everyMs: number | undefined, callback: () => void): void {
  const latest = useRef(callback)
  latest.current = callback
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
