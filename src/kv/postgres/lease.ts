// Leases on work that one process at a time does: a row each, reckoned by the database's clock. A holder that dies
// loses its lease when it runs out. Work under a lease must still be safe when two believe to hold it for a moment.

import type { Session } from './session.ts'

/** Takes or renews the lease `name` for `holder`; true when `holder` has it for the next `seconds`. */
export async function holdLease(
  session: Session,
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

/** Gives a lease back, so that others need not wait until it runs out. */
export async function releaseLease(session: Session, name: string, holder: string): Promise<void> {
  await session.query(`DELETE FROM ${session.table('lease')} WHERE name = $1 AND holder = $2`, [name, holder])
}
