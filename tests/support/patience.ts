// The time that a test waits before it reports a hang. It is not part of the assertion, so it is generous, and longer on
// a busy machine.

import { availableParallelism, loadavg } from 'node:os'

/**
 * The load average shows neither load that has just begun, nor a disk or a hypervisor that stalls the machine. So all
 * times are longer by this factor.
 */
const reserve = 5
/** A high load makes times at most ten times as long, so that a wait of a minute ends within an hour. */
const shareMin = 1 / 10

/** `ms`: a time that is sufficient on an idle machine. Returns a time that is sufficient on any machine. */
export function patience(ms: number): number {
  const [wanted = 0] = loadavg()
  return Math.ceil((reserve * ms) / Math.max(shareMin, Math.min(1, availableParallelism() / wanted)))
}
