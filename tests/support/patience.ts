// The time that a test waits before it reports a hang. It is not part of the assertion, so it is longer on a busy
// machine.

import { availableParallelism, loadavg } from 'node:os'

/** Times are at most ten times as long, so that a hang is reported within an hour. */
const shareMin = 1 / 10

/** Returns `ms` if the machine has a free core for each runnable process; otherwise a longer time. */
export function patience(ms: number): number {
  const [wanted = 0] = loadavg()
  return Math.ceil(ms / Math.max(shareMin, Math.min(1, availableParallelism() / wanted)))
}
