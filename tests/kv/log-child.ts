// A process of its own for the tests of the commit log. Commits transactions of several rows one batch after the other,
// in small segments, so that it constantly appends, rotates, applies and reuses segments; prints each number once it is
// acknowledged. Arguments: folder, the first number, milliseconds after which a segment is applied, however small it
// is, and `followed` if other processes read the log.

import { writeSync } from 'node:fs'
import { stayAlive, systemTimers } from '../../src/base/timers.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { rowsOf } from './log-rows.ts'

const [path = '', first = '0', applyMs = '20', followed] = process.argv.slice(2)
const timers = {
  ...systemTimers,
  after: (_: number, call: () => void) => systemTimers.after(Number(applyMs), call),
}
// The timers of the store do not keep the process alive.
stayAlive()
const store = openLogged({ path, segmentBytes: 32_768, timers, isFollowed: followed !== undefined })
for (let number = Number(first); ; ) {
  const numbers = Array.from({ length: 1 + (number % 5) }, () => number++)
  await Promise.all(
    numbers.map(async each => {
      await store.transact(() => ({ result: undefined, writes: rowsOf(each) }))
      tell(each)
    }),
  )
}

/** Bypasses the stream's buffer, which a kill would lose; waits while the reader of the pipe is slow. */
function tell(number: number): void {
  for (;;) {
    try {
      writeSync(1, `${number}\n`)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}
