// Removes the objects that no restore within the retention needs. A restore to the oldest time needs the newest base
// copy that is older than the retention. Older base copies, with their parts, and the records before that copy are
// removed. The objects that complete base copies are removed first, then parts, then records, each from the oldest to
// the newest. So an interruption never leaves a complete base copy without its parts or records, and the next removal
// finds the remaining objects.

import { type Micros, microsPerDay } from '../base/micros.ts'
import { type BaseName, baseObject, logPrefix, partsPrefix, partsStart, piecesStart } from './object-names.ts'
import type { BackupTarget } from './target.ts'

/**
 * The base copy from which the oldest time of the retention is restored. The age of a copy is the sum of the intervals between
 * the later copies, and each interval counts as a day at most. So if the clock jumps, at most one day too much is removed.
 */
export function oldestNeeded(bases: readonly BaseName[], now: Micros, days: number): BaseName | undefined {
  let age = 0
  let later: number = now
  for (const base of bases.toReversed()) {
    age += Math.max(0, Math.min(later - base.from, microsPerDay))
    later = base.from
    if (age >= days * microsPerDay) return base
  }
  return bases[0]
}

/** Removes the objects that are needed only for times before `oldest`. Returns the number of removed objects. */
export async function removeBefore(
  target: BackupTarget,
  bases: readonly BaseName[],
  oldest: BaseName,
): Promise<number> {
  let removed = 0
  for (const base of bases) {
    if (base === oldest) break
    await target.remove(baseObject(base))
    removed++
  }
  removed += await removeUpTo(target, partsPrefix, partsStart(oldest))
  removed += await removeUpTo(target, logPrefix, piecesStart(oldest.generation, oldest.time))
  return removed
}

/** Removes the objects whose names begin with `prefix` and are less than `end`. */
async function removeUpTo(target: BackupTarget, prefix: string, end: string): Promise<number> {
  let removed = 0
  for await (const name of target.list(prefix)) {
    if (name >= end) break
    await target.remove(name)
    removed++
  }
  return removed
}
