// The time that a test waits before it reports a hang. The time is not part of the assertion, so it is longer on a busy
// machine.

import { availableParallelism, loadavg } from 'node:os'

/** A busy machine gets at most ten times the usual time, so that a hang is reported within the hour. */
const shareMin = 1 / 10

/** Returns `ms` if the machine has a free core for each runnable process, else more. */
export function patience(ms: number): number {
  const [wanted = 0] = loadavg()
  return Math.ceil(ms / Math.max(shareMin, Math.min(1, availableParallelism() / wanted)))
}
