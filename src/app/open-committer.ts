// Opens a data directory in the process that commits for several workers: the supervisor of `--workers`. It evaluates no
// queries. Workers send it their attempts, and read LMDB and the commit log themselves.

import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { openSharedTimeline } from '../base/shared-timeline.ts'
import { RecentWrites } from '../storage/kv/recent-writes.ts'
import { CommitService } from '../storage/store/commit-service.ts'
import { LocalCommits } from '../storage/store/local-commits.ts'
import { SnapshotTimes } from '../storage/store/snapshot-times.ts'
import type { Config } from './config/settings.ts'
import { openLoggedStore } from './open-store.ts'

/** Commits for workers. */
export interface OpenCommitter {
  /** Serves a worker over a socket. Resolves when the socket has closed and none of its attempts can be committed any more. */
  serve(socket: Duplex): Promise<void>
  close(): Promise<void>
}

interface CommitterRole {
  /** Where the workers and this process agree about time; this process is the one after the workers. */
  readonly timelineFile: string
  /** Ends the process, whose disk has failed a flush of the commit log. */
  readonly onLostFlush: () => never
}

/** Opens the data directory of `config`, which this process has claimed. Throws `StoreUnavailableError`. */
export function openCommitter(
  config: Config,
  log: Logger,
  { onLostFlush, timelineFile }: CommitterRole,
): OpenCommitter {
  const kv = openLoggedStore(config, log, { isFollowed: true, onLostFlush })
  const timeline = openSharedTimeline(timelineFile, config.workers)
  // Workers, which take snapshots, notice when announced commits hold up time.
  const times = new SnapshotTimes(kv, timeline, () => undefined)
  const clock = () => timeline.now()
  const commits = new LocalCommits({ kv, times, recent: new RecentWrites(), clock })
  const service = new CommitService(kv, commits)
  return {
    serve: socket => service.serve(socket),
    close: async () => {
      service.close()
      await kv.close()
      timeline.close()
    },
  }
}
