// How long a test waits before it takes what it waits for as hung. That is no part of what it asserts, so a machine that is busy
// with other things gets more time.

import { availableParallelism, loadavg } from 'node:os'

/** No machine gets more than so many times what an idle one does: what hangs shall be known within the hour. */
const shareMin = 1 / 10

/** `ms` on a machine that has a core for everybody who wants one; more where several wait for each. */
export function patience(ms: number): number {
  const [wanted = 0] = loadavg()
  return Math.ceil(ms / Math.max(shareMin, Math.min(1, availableParallelism() / wanted)))
}
