// A line on a terminal that shows how far something long has come. Where standard error is no terminal: nothing.

import { systemClock } from '../base/clock.ts'
import { systemTimers } from '../base/timers.ts'
import type { ExportProgress } from '../transfer/exporter.ts'

const widthChars = 30
const intervalMs = 100

/** Told what is under way, and how far it is, 0 to 1. */
export type OnShare = (name: string, share: number) => void

/** Shows what `share` returns (0 to 1) until `work` has ended, and tells it to `onShare`. */
export function withProgress<T>(
  name: string,
  share: () => number,
  work: () => Promise<T>,
  onShare: OnShare = () => undefined,
): Promise<T> {
  const line = () => {
    onShare(name, share())
    return progressLine(name, share())
  }
  return withLine(line, work)
}

/** Asks for the line again and again until `work` has ended, and shows it. */
async function withLine<T>(line: () => string, work: () => Promise<T>): Promise<T> {
  const { isTTY } = process.stderr
  let widest = 0
  const stop = systemTimers.every(intervalMs, () => {
    const text = line()
    widest = Math.max(widest, text.length)
    if (isTTY) process.stderr.write(`\r${text.padEnd(widest)}`)
  })
  try {
    return await work()
  } finally {
    stop()
    if (isTTY) process.stderr.write(`\r${' '.repeat(widest)}\r`)
  }
}

/** `backup [######                        ]  20 %`. Shares beyond the bounds count as the bounds. */
export function progressLine(name: string, share: number): string {
  const bounded = Math.min(1, Math.max(0, share))
  const bar = '#'.repeat(Math.floor(bounded * widthChars)).padEnd(widthChars)
  return `${name} [${bar}] ${String(Math.floor(bounded * 100)).padStart(3)} %`
}

/** Shows bar, documents per second and the time left until `work` has ended. */
export function withRate<T>(
  name: string,
  rated: Readonly<ExportProgress>,
  work: () => Promise<T>,
): Promise<T> {
  const from = systemClock.elapsedMs()
  const first = rated.readBytes
  return withLine(() => rateLine(name, rated, { elapsedMs: systemClock.elapsedMs() - from, first }), work)
}

/** Shows the documents so far, and how many a second, until `work` has ended. */
export function withCount<T>(
  name: string,
  counted: { readonly documents: number },
  work: () => Promise<T>,
): Promise<T> {
  const from = systemClock.elapsedMs()
  const line = () =>
    `${name}: ${counted.documents} documents, ${perSecond(counted.documents, systemClock.elapsedMs() - from)}/s`
  return withLine(line, work)
}

function perSecond(documents: number, elapsedMs: number): number {
  return elapsedMs > 0 ? Math.round((documents * 1000) / elapsedMs) : 0
}

/** `import [###   ]  10 % 12345 documents, 6789/s, 0:42 left`. */
export function rateLine(
  name: string,
  { documents, phase, readBytes, totalBytes }: Readonly<ExportProgress>,
  { elapsedMs, first }: { readonly elapsedMs: number; readonly first: number },
): string {
  const share = totalBytes > 0 ? readBytes / totalBytes : 0
  const rate = perSecond(documents, elapsedMs)
  const read = readBytes - first
  const leftMs = read > 0 ? (elapsedMs * Math.max(0, totalBytes - readBytes)) / read : undefined
  const left = leftMs === undefined ? '' : `, ${minutes(leftMs)} left`
  return `${progressLine(name, share)} ${phase}: ${documents} documents, ${rate}/s${left}`
}

function minutes(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
