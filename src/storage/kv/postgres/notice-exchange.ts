// Exchanges the notices of processes (src/base/notices.ts) over the record: each process writes rows to a small table
// and reads the rows of the other processes. Rows are removed after a minute.

import type { NoticeBoard } from '../../../base/notices.ts'
import type { PostgresSession } from './session.ts'
import type { UpkeepTask } from './upkeep.ts'

/** Maximum age in seconds of notices that are read. A process that was disconnected for longer misses notices. */
const readSeconds = 15
const retentionSeconds = 60

export class NoticeExchange implements UpkeepTask {
  readonly #board: NoticeBoard
  readonly #node: string
  /** The number of the newest read notice of each process. */
  readonly #read = new Map<string, number>()
  #number = 0

  /** `node` identifies this process among all. */
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

  /** Removes all rows of this process, except the rows that other processes may still read. */
  async stop(session: PostgresSession): Promise<void> {
    await session.query(
      `DELETE FROM ${session.table('notice')} WHERE at < now() - $1 * interval '1 second'`,
      [retentionSeconds],
    )
  }
}
