// When a batch of work that others wait for has to end.

import { systemClock } from '../base/clock.ts'

/** Says whether so many milliseconds from now are over; absent: never. */
export function batchEnd(milliseconds: number | undefined): () => boolean {
  if (milliseconds === undefined) return () => false
  const endMs = systemClock.elapsedMs() + milliseconds
  return () => systemClock.elapsedMs() >= endMs
}
