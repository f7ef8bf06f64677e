// Renders long lists some rows per frame, so that rendering does not block the browser.

import { useEffect, useRef, useState } from 'preact/hooks'

const rowsPerFrame = 100

/** The first rows at once, then more rows with each frame. Restarts when `list` changes. */
export function useIncrementalList<T>(rows: readonly T[], list: string): readonly T[] {
  const shown = useRef({ list, count: rowsPerFrame })
  if (shown.current.list !== list) shown.current = { list, count: rowsPerFrame }
  const [, setFrame] = useState(0)
  const { count } = shown.current
  const isComplete = count >= rows.length
  useEffect(() => {
    if (isComplete) return
    const frame = requestAnimationFrame(time => {
      shown.current = { list, count: count + rowsPerFrame }
      setFrame(time)
    })
    return () => cancelAnimationFrame(frame)
  }, [list, count, isComplete])
  return isComplete ? rows : rows.slice(0, count)
}
