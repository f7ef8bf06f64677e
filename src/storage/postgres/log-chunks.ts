// Stores chunks of query log segments in the store's tables in PostgreSQL, one row for each chunk. The row contains the
// bytes of the chunk if they are not stored in a bucket. Other rows contain the time up to which each machine has
// uploaded its query log, and the time up to which all machines should upload.

import { endOfTime, type Micros, micros } from '../../base/micros.ts'
import type { ResultRow } from './postgres-session.ts'
import type { ReconnectingSession } from './reconnecting-session.ts'

/** An uploaded part of a query log segment. The chunks of a segment are contiguous. */
export interface Chunk {
  /** The writer of the segment, and the time at which it begins (microseconds). */
  readonly writer: string
  readonly start: Micros
  /** Byte offset in the segment. */
  readonly position: number
  readonly bytes: number
  /** No log record in the chunk is newer (microseconds). */
  readonly until: Micros
}

/** Seconds without a report after which a machine is treated as dead. */
const silentSeconds = 10
/** Names the row, in the table of machines, with the time up to which all machines should upload. */
const requestRow = ''

/** All methods reject with `StoreUnavailableError` on failure. */
export class RecordLogChunks {
  readonly #sessions: ReconnectingSession
  readonly #node: string

  constructor(sessions: ReconnectingSession, node: string) {
    this.#sessions = sessions
    this.#node = node
  }

  /** The uploaded bytes of each segment of the given writers, by `writer/start`. */
  async uploadedBytes(writers: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#sessions.query(
      table => `SELECT writer, start, max(place + bytes) AS reached FROM ${table('log_chunk')}
                WHERE writer = ANY($1::text[]) GROUP BY writer, start`,
      [writers],
    )
    return new Map(rows.map(row => [`${row.writer}/${row.start}`, Number(row.reached)]))
  }

  /** `body`: the compressed chunk; undefined when it is stored in a bucket. Adding a chunk again changes nothing. */
  async add(chunk: Chunk, body: Uint8Array | undefined): Promise<void> {
    const { writer, start, position, bytes, until } = chunk
    await this.#sessions.query(
      table => `INSERT INTO ${table('log_chunk')} (writer, start, place, bytes, until, body)
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
      [writer, start, position, bytes, until, body && Buffer.from(body)],
    )
  }

  /** All chunks of the segments that may contain records from `from` to `to` (microseconds), in order. */
  async between(from: Micros, to: Micros): Promise<readonly Chunk[]> {
    const rows = await this.#sessions.query(
      table => `SELECT writer, start, place, bytes, until FROM ${table('log_chunk')} AS chunk WHERE start < $2 AND EXISTS (
                  SELECT 1 FROM ${table('log_chunk')} AS other
                  WHERE other.writer = chunk.writer AND other.start = chunk.start AND other.until >= $1)
                ORDER BY start, writer, place`,
      [from, to],
    )
    return rows.map(chunkOf)
  }

  /** The start of the oldest segment with a stored chunk; undefined if no chunk is stored. */
  async oldest(): Promise<Micros | undefined> {
    const [row] = await this.#sessions.query(
      table => `SELECT min(start) AS start FROM ${table('log_chunk')}`,
      [],
    )
    return row?.start === null || row === undefined ? undefined : micros(Number(row.start))
  }

  async body({ writer, start, position }: Chunk): Promise<Uint8Array | undefined> {
    const [row] = await this.#sessions.query(
      table => `SELECT body FROM ${table('log_chunk')} WHERE writer = $1 AND start = $2 AND place = $3`,
      [writer, start, position],
    )
    return (row?.body as Buffer | null) ?? undefined
  }

  /**
   * The chunks to remove: chunks whose records are all older than `before`, and the oldest chunks if all together have
   * more than `bytesMax` bytes.
   */
  async old(before: Micros, bytesMax: number): Promise<readonly Chunk[]> {
    const rows = await this.#sessions.query(
      table => `SELECT writer, start, place, bytes, until FROM (
                  SELECT writer, start, place, bytes, until,
                         sum(bytes) OVER (ORDER BY start DESC, writer, place DESC) AS total
                  FROM ${table('log_chunk')}) AS summed
                WHERE until < $1 OR total > $2`,
      [before, bytesMax],
    )
    return rows.map(chunkOf)
  }

  async remove({ writer, start, position }: Chunk): Promise<void> {
    await this.#sessions.query(
      table => `DELETE FROM ${table('log_chunk')} WHERE writer = $1 AND start = $2 AND place = $3`,
      [writer, start, position],
    )
  }

  /** Requests that all machines upload their records up to `time`. */
  request(time: Micros): Promise<void> {
    return this.#reportAs(requestRow, time)
  }

  /** The time up to which all machines should upload. */
  async requestedTime(): Promise<Micros> {
    const [row] = await this.#sessions.query(
      table => `SELECT until FROM ${table('log_node')} WHERE node = $1`,
      [requestRow],
    )
    return micros(Number(row?.until ?? 0))
  }

  /** This machine is alive, and has uploaded all records up to `until`. */
  report(until: Micros): Promise<void> {
    return this.#reportAs(this.#node, until)
  }

  /** Reported times never go back. */
  async #reportAs(node: string, until: Micros): Promise<void> {
    await this.#sessions.query(
      table => `INSERT INTO ${table('log_node')} (node, until, seen) VALUES ($1, $2, now())
                ON CONFLICT (node) DO UPDATE
                SET until = GREATEST(${table('log_node')}.until, excluded.until), seen = excluded.seen`,
      [node, until],
    )
  }

  /** The earliest of the times that live machines have reported; `endOfTime` when no machine is alive. */
  async reportedByAll(): Promise<Micros> {
    const [row] = await this.#sessions.query(
      table => `SELECT min(until) AS until FROM ${table('log_node')}
                WHERE node <> $1 AND seen > now() - $2 * interval '1 second'`,
      [requestRow, silentSeconds],
    )
    return row?.until === null ? endOfTime : micros(Number(row?.until))
  }

  /** Removes the reports of this machine, which has stopped, and of machines that have been silent for a day. */
  async retire(): Promise<void> {
    await this.#sessions.query(
      table => `DELETE FROM ${table('log_node')}
                WHERE node = $1 OR (node <> $2 AND seen < now() - interval '1 day')`,
      [this.#node, requestRow],
    )
  }
}

function chunkOf(row: ResultRow): Chunk {
  return {
    writer: String(row.writer),
    start: micros(Number(row.start)),
    position: Number(row.place),
    bytes: Number(row.bytes),
    until: micros(Number(row.until)),
  }
}
