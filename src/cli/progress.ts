// A line on a terminal that shows how far something long has come. Where standard error is no terminal: nothing.

import { systemTimers } from '../base/timers.ts'

const widthChars = 30
const intervalMs = 100

/** Shows what `share` answers (0 to 1) until `work` has ended. */
export async function withProgress<T>(name: string, share: () => number, work: () => Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work()
  const stop = systemTimers.every(intervalMs, () => process.stderr.write(`\r${progressLine(name, share())}`))
  try {
    return await work()
  } finally {
    stop()
    process.stderr.write(`\r${' '.repeat(progressLine(name, 1).length)}\r`)
  }
}

/** `backup [######                        ]  20 %`. Shares beyond the bounds count as the bounds. */
export function progressLine(name: string, share: number): string {
  const bounded = Math.min(1, Math.max(0, share))
  const bar = '#'.repeat(Math.floor(bounded * widthChars)).padEnd(widthChars)
  return `${name} [${bar}] ${String(Math.floor(bounded * 100)).padStart(3)} %`
}
