// Stores files in the record (the store's tables in PostgreSQL), in parts, so that no large file is ever in memory. A
// file gets its name only when it is complete.

import { secondsPerDay } from '../../base/micros.ts'
import type { Random } from '../../base/random.ts'
import type { PostgresSession } from './postgres-session.ts'
import type { ReconnectingSession } from './reconnecting-session.ts'

const partBytes = 1 << 20
const temporaryPrefix = 'draft of '
/** Seconds after which an incomplete file is removed: storing a file never takes this long. */
const leftoverSeconds = secondsPerDay

export class RecordFiles {
  readonly #sessions: ReconnectingSession
  readonly #random: Random

  constructor(sessions: ReconnectingSession, random: Random) {
    this.#sessions = sessions
    this.#random = random
  }

  store(name: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const temporary = `${temporaryPrefix}${name} ${this.#random.hex(8)}`
    return this.#sessions.withOwnSession(async session => {
      const table = session.table('file')
      try {
        let parts = 0
        for await (const body of inParts(content)) {
          signal.throwIfAborted()
          await session.query(`INSERT INTO ${table} (name, part, body) VALUES ($1, $2, $3)`, [
            temporary,
            parts++,
            body,
          ])
        }
        signal.throwIfAborted()
        await session.query('BEGIN')
        await session.query(`DELETE FROM ${table} WHERE name = $1`, [name])
        await session.query(`UPDATE ${table} SET name = $1 WHERE name = $2`, [name, temporary])
        await session.query('COMMIT')
      } catch (error) {
        await removeTemporary(session, temporary)
        throw error
      }
    })
  }

  async size(name: string): Promise<number | undefined> {
    const [row] = await this.#sessions.query(
      table => `SELECT count(*) AS parts, sum(length(body)) AS bytes FROM ${table('file')} WHERE name = $1`,
      [name],
    )
    return Number(row?.parts) === 0 ? undefined : Number(row?.bytes)
  }

  async *read(name: string): AsyncGenerator<Buffer> {
    for (let part = 0; ; part++) {
      const [row] = await this.#sessions.query(
        table => `SELECT body FROM ${table('file')} WHERE name = $1 AND part = $2`,
        [name, part],
      )
      if (row === undefined) return
      yield row.body as Buffer
    }
  }

  async remove(name: string): Promise<void> {
    await this.#sessions.query(table => `DELETE FROM ${table('file')} WHERE name = $1`, [name])
  }

  async removeLeftovers(): Promise<void> {
    await this.#sessions.query(
      table => `DELETE FROM ${table('file')} WHERE name LIKE $1 AND at < now() - $2 * interval '1 second'`,
      [`${temporaryPrefix}%`, leftoverSeconds],
    )
  }
}

async function removeTemporary(session: PostgresSession, temporary: string): Promise<void> {
  if (!session.isSound) return
  await session.query('ROLLBACK').catch(() => undefined)
  await session
    .query(`DELETE FROM ${session.table('file')} WHERE name = $1`, [temporary])
    .catch(() => undefined)
}

async function* inParts(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of content) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes < partBytes) continue
    yield Buffer.concat(pieces)
    pieces = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(pieces)
}
