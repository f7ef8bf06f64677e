// Leases on work that one process at a time does: a row for each lease, with times of the database's clock. The lease
// of a dead holder expires. Work under a lease must still be correct when two processes believe to hold it for a
// moment.

import type { PostgresSession } from './session.ts'
import type { UpkeepTask } from './upkeep.ts'

/** Takes or renews the lease `name` for `holder`; true when `holder` has it for the next `seconds`. */
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

/** Releases a lease, so that other processes need not wait until it expires. */
export async function releaseLease(session: PostgresSession, name: string, holder: string): Promise<void> {
  await session.query(`DELETE FROM ${session.table('lease')} WHERE name = $1 AND holder = $2`, [name, holder])
}

const leaseSeconds = 5
/** Milliseconds between renewals of a lease. */
const renewMs = 1_500
/** Milliseconds before the expiry at which a holder stops using its lease, because clocks differ slightly in speed. */
const marginMs = 1_000

/** A lease that a process renews while it lives, and takes over when it has expired. */
export class RenewedLease implements UpkeepTask {
  readonly #name: string
  readonly #holder: string
  readonly #elapsedMs: () => number
  #untilMs = Number.NEGATIVE_INFINITY
  #renewedMs = Number.NEGATIVE_INFINITY

  /** `elapsedMs`: a monotonic clock in milliseconds. */
  constructor(name: string, holder: string, elapsedMs: () => number) {
    this.#name = name
    this.#holder = holder
    this.#elapsedMs = elapsedMs
  }

  /** True while this process holds the lease. */
  get isHeld(): boolean {
    return this.#elapsedMs() < this.#untilMs
  }

  async run(session: PostgresSession): Promise<boolean> {
    const beganMs = this.#elapsedMs()
    if (this.isHeld && beganMs - this.#renewedMs < renewMs) return false
    this.#renewedMs = beganMs
    const isHeld = await holdLease(session, this.#name, this.#holder, leaseSeconds)
    this.#untilMs = isHeld ? beganMs + leaseSeconds * 1000 - marginMs : Number.NEGATIVE_INFINITY
    return false
  }

  stop(session: PostgresSession): Promise<void> {
    this.#untilMs = Number.NEGATIVE_INFINITY
    return releaseLease(session, this.#name, this.#holder)
  }
}
