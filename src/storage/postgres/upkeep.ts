// Runs the maintenance tasks of a process on the record (the store's tables in PostgreSQL), over a separate connection.
// The tasks renew leases, exchange notices, and apply the log to the state. While the database is unavailable, the
// tasks do not run.

import type { NoticeBoard } from '../../base/notices.ts'
import { Loop, type Timers } from '../../base/timers.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import type { PostgresSession } from './postgres-session.ts'
import { ReconnectingSession } from './reconnecting-session.ts'

export interface UpkeepTask {
  /** Resolves with true when the task should run again without a pause. */
  run(session: PostgresSession): Promise<boolean>
  /** Called once at the end, if the database is reachable. */
  stop?(session: PostgresSession): Promise<void>
}

interface UpkeepOptions {
  readonly open: () => Promise<PostgresSession>
  readonly timers: Timers
  /** Milliseconds between two runs. */
  readonly everyMs: number
  readonly tasks: readonly UpkeepTask[]
  /** Called with each error of a task, except an unavailable database. */
  readonly onError: (error: unknown) => void
}

export class Upkeep {
  readonly #options: UpkeepOptions
  readonly #session: ReconnectingSession
  readonly #loop: Loop

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#session = new ReconnectingSession(options.open)
    this.#loop = new Loop(options.timers, () => this.#step())
  }

  async stop(): Promise<void> {
    await this.#loop.stop()
    const session = this.#session.current
    if (session) for (const task of this.#options.tasks) await task.stop?.(session).catch(() => undefined)
    this.#session.close()
  }

  async #step(): Promise<number> {
    const { everyMs, onError, tasks } = this.#options
    let isBusy = false
    try {
      const session = await this.#session.connected()
      for (const task of tasks) if (await task.run(session)) isBusy = true
    } catch (error) {
      this.#session.drop()
      // The follower already reports that the database is unavailable.
      if (!(error instanceof StoreUnavailableError)) onError(error)
      return everyMs
    }
    return isBusy ? 0 : everyMs
  }
}

/** Maximum age in seconds of notices that are read. A process that was disconnected for longer misses notices. */
const readSeconds = 15
/** Seconds after which notices are deleted. */
const retentionSeconds = 60

/**
 * Exchanges the notices of processes (src/base/notices.ts) over the record: each process writes rows to a small table
 * and reads the rows of the others, which are removed after a minute.
 */
export class NoticeExchange implements UpkeepTask {
  readonly #board: NoticeBoard
  readonly #node: string
  /** The newest notice that was read from each process. */
  readonly #read = new Map<string, number>()
  #number = 0

  /** `node`: the name of this process. */
  constructor(board: NoticeBoard, node: string) {
    this.#board = board
    this.#node = node
  }

  async run(session: PostgresSession): Promise<boolean> {
    const table = session.table('notice')
    const news = this.#board.collect()
    if (news !== undefined) {
      await session.query(`INSERT INTO ${table} (node, number, body) VALUES ($1, $2, $3)`, [
        this.#node,
        ++this.#number,
        news,
      ])
      await session.query(`DELETE FROM ${table} WHERE node = $1 AND at < now() - $2 * interval '1 second'`, [
        this.#node,
        retentionSeconds,
      ])
    }
    const rows = await session.query(
      `SELECT node, number, body FROM ${table}
       WHERE node <> $1 AND at > now() - $2 * interval '1 second' ORDER BY node, number`,
      [this.#node, readSeconds],
    )
    const living = new Set(rows.map(({ node }) => String(node)))
    for (const node of this.#read.keys()) if (!living.has(node)) this.#read.delete(node)
    for (const row of rows) {
      const [node, number] = [String(row.node), Number(row.number)]
      if (number <= (this.#read.get(node) ?? 0)) continue
      this.#read.set(node, number)
      this.#board.receive(String(row.body))
    }
    return false
  }

  /** Other processes may still read the newer rows. */
  async stop(session: PostgresSession): Promise<void> {
    await session.query(
      `DELETE FROM ${session.table('notice')} WHERE at < now() - $1 * interval '1 second'`,
      [retentionSeconds],
    )
  }
}

/**
 * A lease gives some work to one process at a time. Its row has an expiry time, by the database's clock, so the lease
 * of a dead holder expires. The work must be correct even if two processes briefly believe that they hold the lease.
 * Takes or renews the lease; true when `holder` holds it for the next `seconds`.
 */
export async function holdLease(
  session: PostgresSession,
  name: string,
  holder: string,
  seconds: number,
): Promise<boolean> {
  const lease = session.table('lease')
  const rows = await session.query(
    `INSERT INTO ${lease} (name, holder, until) VALUES ($1, $2, now() + $3 * interval '1 second')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
     WHERE ${lease}.holder = excluded.holder OR ${lease}.until < now()
     RETURNING holder`,
    [name, holder, seconds],
  )
  return rows.length > 0
}

/** Other processes then need not wait for the expiry. */
export async function releaseLease(session: PostgresSession, name: string, holder: string): Promise<void> {
  await session.query(`DELETE FROM ${session.table('lease')} WHERE name = $1 AND holder = $2`, [name, holder])
}

const leaseName = 'background'
const leaseSeconds = 5
/** Milliseconds between renewals of a lease. */
const renewMs = 1_500
/** A holder stops using its lease at this time before the expiry, because clocks differ slightly in speed. */
const marginMs = 1_000

/** The lease on background work, which a process takes when it is free, and then renews until the process exits. */
export class BackgroundLease implements UpkeepTask {
  readonly #holder: string
  readonly #elapsedMs: () => number
  #untilMs = Number.NEGATIVE_INFINITY
  #renewedMs = Number.NEGATIVE_INFINITY

  /** `elapsedMs`: a monotonic clock. */
  constructor(holder: string, elapsedMs: () => number) {
    this.#holder = holder
    this.#elapsedMs = elapsedMs
  }

  get isHeld(): boolean {
    return this.#elapsedMs() < this.#untilMs
  }

  async run(session: PostgresSession): Promise<boolean> {
    const beganMs = this.#elapsedMs()
    if (this.isHeld && beganMs - this.#renewedMs < renewMs) return false
    this.#renewedMs = beganMs
    const isHeld = await holdLease(session, leaseName, this.#holder, leaseSeconds)
    this.#untilMs = isHeld ? beganMs + leaseSeconds * 1000 - marginMs : Number.NEGATIVE_INFINITY
    return false
  }

  stop(session: PostgresSession): Promise<void> {
    this.#untilMs = Number.NEGATIVE_INFINITY
    return releaseLease(session, leaseName, this.#holder)
  }
}
