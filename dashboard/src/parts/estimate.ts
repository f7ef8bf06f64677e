// Estimates the progress of work that reads all rows of a source: its share, and the remaining time.

import { useEffect, useRef, useState } from 'preact/hooks'
import { countSource, shareBefore } from '../service/row-position.ts'
import type { RowSource } from '../service/row-source.ts'
import { rights } from '../session.ts'
import type { Json } from '../wire/json.ts'
import { percentText, timeLeftText } from './quantities.ts'

/** Milliseconds between two estimates. */
const everyMs = 2000

interface Work {
  readonly isRunning: boolean
  /** Rows that are done, and the cursor after them; undefined before the first page. */
  readonly scanned: number
  readonly after: Json | undefined
}

/**
 * Returns a text such as `, about 40 %, 2 min left`; empty while nothing is known. Documents in the order of their ids
 * are estimated by the service. For an index, and for callers who may not measure a collection, the rows are counted
 * meanwhile, which takes a small part of the time of the work.
 */
export function useEstimate(source: RowSource, { after, isRunning, scanned }: Work): string {
  const isById = source.index === undefined && rights.value.measures
  const [shareById, setShareById] = useState<number | undefined>(undefined)
  const [total, setTotal] = useState<number | undefined>(undefined)
  const started = useRef({ ms: 0, share: 0 })
  const nextMs = useRef(0)
  const controller = useRef<AbortController | undefined>(undefined)
  const share = isById ? shareById : total && Math.min(1, scanned / total)
  useEffect(() => {
    if (!isRunning) return
    const own = new AbortController()
    controller.current = own
    started.current = { ms: performance.now(), share: scanned === 0 ? 0 : (share ?? 0) }
    nextMs.current = 0
    if (scanned === 0) setShareById(undefined)
    if (!isById) {
      countSource(source, own.signal).then(
        count => {
          if (!own.signal.aborted) setTotal(count)
        },
        // The work itself shows the error.
        () => undefined,
      )
    }
    return () => own.abort()
  }, [isRunning, isById, source])
  useEffect(() => {
    const signal = controller.current?.signal
    if (!isRunning || !isById || after === undefined || signal === undefined) return
    if (performance.now() < nextMs.current) return
    nextMs.current = performance.now() + everyMs
    shareBefore(source, after, signal).then(
      now => {
        if (!signal.aborted) setShareById(now)
      },
      () => undefined,
    )
  }, [after])
  if (share === undefined) return ''
  const { ms, share: from } = started.current
  const passedMs = performance.now() - ms
  // The first pages are smaller and slower than the later ones.
  const hasRate = isRunning && share > from && passedMs >= everyMs
  const left = hasRate ? `, ${timeLeftText((passedMs * (1 - share)) / (share - from))}` : ''
  return `, about ${percentText(share)}${left}`
}
