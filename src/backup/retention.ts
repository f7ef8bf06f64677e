// Removes what no time within the retention needs: base copies but the newest one that is old enough, and all that only older
// ones need. A base copy becomes incomplete first, then its parts go, then the records before it, each the oldest first.
// So an interruption leaves objects that the next removal finds, and never a base copy without its parts or records.

import { microsPerDay } from '../base/durations.ts'
import type { Micros } from '../base/micros.ts'
import { type BaseName, baseObject, logPrefix, partsPrefix, partsStart, piecesStart } from './object-names.ts'
import type { BackupTarget } from './target.ts'

/**
 * The base copy that the oldest time of the retention needs. The age of a copy is the sum of the times between copies, each a
 * day at most: a clock that leaps removes a day too much, not everything.
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

/** Removes all that is only needed before `oldest`. Returns how many objects it has removed. */
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
