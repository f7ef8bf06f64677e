// Stores the state of the removal time (base/removal-time.ts), so that the removal time continues after a restart.

import type { Clock } from '../../base/clock.ts'
import { micros } from '../../base/micros.ts'
import { RemovalTime, type TimeMemory } from '../../base/removal-time.ts'
import { metaKey } from '../keys/keyspace.ts'
import { lastCommit } from './last-commit.ts'
import { isIntact, sealedTimes, timeAt } from './records.ts'
import type { Store } from './store.ts'

const key = metaKey('passed time')

/** The time that determines which data the background work removes; `onLeap` as in {@link RemovalTime}. */
export function removalTimeOf(
  store: Store,
  clock: Clock,
  onLeap: (aheadMicros: number) => void,
): RemovalTime {
  return new RemovalTime({
    clock,
    onLeap,
    load: () => store.kv.read(view => loaded(view.get(key), lastCommit(view).time)),
    save: ({ believed, doubtedMs }) =>
      store.write(transaction => {
        transaction.rows.overlay.set(key, sealedTimes(believed, micros(Math.round(doubtedMs))))
      }),
  })
}

/** Without a stored state, or with a damaged one, only the newest commit is known. */
function loaded(stored: Uint8Array | undefined, lastCommitTime: number): TimeMemory | undefined {
  if (stored !== undefined && isIntact(stored))
    return { believed: timeAt(stored, 0), doubtedMs: timeAt(stored, 8) }
  return lastCommitTime === 0 ? undefined : { believed: micros(lastCommitTime), doubtedMs: 0 }
}
