// Following changes: an event stream tells of elements that come and go at once, and a look every few seconds finds
// changes that no event tells of. Nothing is asked while the tab is hidden.

import { useEffect, useRef } from 'preact/hooks'
import { follow } from '../service/client.ts'
import { scope } from '../session.ts'
import { type Json, type Query, textAt, writeJson } from '../wire/json.ts'

/** Events that come together are one reason to look. */
const gatherMs = 200
const againAfterMs = 3000

/** Calls `onChange` for changes to `subject`, and every `everyMs`; follows nothing while `subject` is undefined. */
export function useLive(subject: Query | undefined, onChange: () => void, everyMs?: number): void {
  const latest = useRef(onChange)
  latest.current = onChange
  const key = subject === undefined ? undefined : writeJson(subject)
  useEffect(() => {
    if (subject === undefined) return
    const controller = new AbortController()
    let gathered: ReturnType<typeof setTimeout> | undefined
    const onEvent = (event: Json) => {
      if (textAt(event, 'type') === 'start') return
      gathered ??= setTimeout(() => {
        gathered = undefined
        latest.current()
      }, gatherMs)
    }
    void keepFollowing(subject, onEvent, controller.signal)
    return () => {
      controller.abort()
      clearTimeout(gathered)
    }
  }, [key, scope.value.secret])
  useEvery(subject === undefined ? undefined : everyMs, onChange)
}

/** Opens the stream again when it ends, as it does when the service is restarted. */
async function keepFollowing(
  subject: Query,
  onEvent: (event: Json) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // Why it ended does not matter: what is wrong shows in the page's own requests.
    await follow(subject, scope.value, onEvent, signal).catch(() => undefined)
    if (!signal.aborted) await new Promise(resolve => setTimeout(resolve, againAfterMs))
    if (!signal.aborted) onEvent(null)
  }
}

/** Calls `look` every so many milliseconds while the tab is shown; never while `everyMs` is undefined. */
export function useEvery(everyMs: number | undefined, look: () => void): void {
  const latest = useRef(look)
  latest.current = look
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
