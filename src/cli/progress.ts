// Shows the progress of long work in a line on standard error, if it is a terminal.

import { systemClock } from '../base/clock.ts'
import { systemTimers } from '../base/timers.ts'
import type { ExportProgress } from '../transfer/exporter.ts'
import { escapeHidden } from './terminal.ts'

const widthChars = 30
const intervalMs = 100

/** `share`: the completed fraction of the work, 0 to 1. */
export type OnProgress = (name: string, share: number) => void

/**
 * Shows the completed fraction (0 to 1), which `share` returns, until `work` has ended. Also passes each fraction to
 * `onShare`, with or without a terminal.
 */
export function withProgress<T>(
  name: string,
  share: () => number,
  work: () => Promise<T>,
  onShare: OnProgress = () => undefined,
): Promise<T> {
  const line = () => {
    const done = share()
    onShare(name, done)
    return progressLine(name, done)
  }
  return withLine(line, work)
}

/** Updates the line at intervals until `work` has ended. */
async function withLine<T>(line: () => string, work: () => Promise<T>): Promise<T> {
  const { isTTY } = process.stderr
  let widest = 0
  const stop = systemTimers.every(intervalMs, () => {
    const text = line()
    widest = Math.max(widest, text.length)
    if (isTTY) process.stderr.write(`\r${escapeHidden(text).padEnd(widest)}`)
  })
  try {
    return await work()
  } finally {
    stop()
    if (isTTY) process.stderr.write(`\r${' '.repeat(widest)}\r`)
  }
}

/** Returns a line such as `backup [######                        ]  20 %`. Clamps `share` to 0 to 1. */
export function progressLine(name: string, share: number): string {
  const bounded = Math.min(1, Math.max(0, share))
  const bar = '#'.repeat(Math.floor(bounded * widthChars)).padEnd(widthChars)
  return `${name} [${bar}] ${String(Math.floor(bounded * 100)).padStart(3)} %`
}

/** Shows a bar, the number of documents per second, and the remaining time. */
export function withRate<T>(
  name: string,
  progress: Readonly<ExportProgress>,
  work: () => Promise<T>,
): Promise<T> {
  const from = systemClock.elapsedMs()
  const first = progress.readBytes
  return withLine(() => rateLine(name, progress, { elapsedMs: systemClock.elapsedMs() - from, first }), work)
}

/** Shows the number of documents so far and per second. */
export function withCount<T>(
  name: string,
  progress: { readonly documents: number },
  work: () => Promise<T>,
): Promise<T> {
  const from = systemClock.elapsedMs()
  const line = () =>
    `${name}: ${progress.documents} documents, ${perSecond(progress.documents, systemClock.elapsedMs() - from)}/s`
  return withLine(line, work)
}

function perSecond(documents: number, elapsedMs: number): number {
  return elapsedMs > 0 ? Math.round((documents * 1000) / elapsedMs) : 0
}

/**
 * Returns a line such as `import [###   ]  10 % documents: 12345 documents, 6789/s, 0:42 left`. `first`: the value of
 * `readBytes` when the work began.
 */
export function rateLine(
  name: string,
  { documents, phase, readBytes, totalBytes }: Readonly<ExportProgress>,
  { elapsedMs, first }: { readonly elapsedMs: number; readonly first: number },
): string {
  const share = totalBytes > 0 ? readBytes / totalBytes : 0
  const rate = perSecond(documents, elapsedMs)
  const read = readBytes - first
  const remainingMs = read > 0 ? (elapsedMs * Math.max(0, totalBytes - readBytes)) / read : undefined
  const left = remainingMs === undefined ? '' : `, ${minutesText(remainingMs)} left`
  return `${progressLine(name, share)} ${phase}: ${documents} documents, ${rate}/s${left}`
}

function minutesText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
