// Closes popovers and menus on Escape, and on a click outside.

import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * While `isOpen` is true, calls `close` on Escape and on clicks outside `part`. Escape moves the focus to the first
 * button of `part`.
 */
export function useDismissal(part: RefObject<HTMLElement | null>, isOpen: boolean, close: () => void): void {
  const latest = useRef(close)
  latest.current = close
  useEffect(() => {
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
