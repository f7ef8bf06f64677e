// Renders long lists some rows per frame, so that rendering does not block the browser.

import { useEffect, useRef, useState } from 'preact/hooks'

const rowsPerFrame = 100

/** Returns the first rows at once, then more rows with each frame. Restarts for another list, with another `key`. */
export function useIncrementalList<T>(rows: readonly T[], key: string): readonly T[] {
  const shown = useRef({ key, count: rowsPerFrame })
  if (shown.current.key !== key) shown.current = { key, count: rowsPerFrame }
  const [, setFrame] = useState(0)
  const { count } = shown.current
  const isComplete = count >= rows.length
  useEffect(() => {
    if (isComplete) return
    const frame = requestAnimationFrame(time => {
      shown.current = { key, count: count + rowsPerFrame }
      setFrame(time)
    })
    return () => cancelAnimationFrame(frame)
  }, [key, count, isComplete])
  return isComplete ? rows : rows.slice(0, count)
}
