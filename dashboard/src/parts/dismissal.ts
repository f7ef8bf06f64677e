// What has been opened over a page closes with Escape and with a click beside it.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Calls `close` for Escape and for clicks outside of `part` while it is open. Escape gives the focus to its first button. */
export function useDismissal(part: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  // From the moment at which it is seen: an Escape that is pressed at once closes it, too.
  useLayoutEffect(() => {
    if (!isOpen) return
    const controller = new AbortController()
    const { signal } = controller
    const onPointer = (event: Event) => {
      if (!event.composedPath().includes(part.current as EventTarget)) latest.current()
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      latest.current()
      part.current?.querySelector<HTMLElement>('button, summary')?.focus()
    }
    document.addEventListener('pointerdown', onPointer, { signal })
    document.addEventListener('keydown', onKey, { signal })
    return () => controller.abort()
  }, [isOpen])
}
