// The form of an attempt that one process sends to the committing process. The committing process serves all clients,
// so each of its steps must be short. Writes are sent in the encoding in which they are appended to the log. A large
// read set is sent in portions, which are decoded only if there were other commits meanwhile.

import { setImmediate as turn } from 'node:timers/promises'
import { deserialize, serialize } from 'node:v8'
import { joinBytes, megabyte } from '../../base/bytes.ts'
import type { Micros } from '../../values/value.ts'
import { decodeWrites, encodeWrites, WriteReader } from '../kv/batch.ts'
import type { Bytes, EncodedWrites } from '../kv/contract.ts'
import type { KeyReads, ReadRange, ReadRow, ReadSet } from '../kv/read-set.ts'
import { type Attempt, type AttemptHead, type PackedAttempt, writesAt } from './attempt.ts'

/** Keys and ranges of a read set that are sent together. */
interface Portion {
  readonly keys: readonly (readonly [string, ReadRow])[]
  readonly ranges: readonly ReadRange[]
}

/** Bytes of encoded writes above which they are appended in pieces. */
const longWritesBytes = 262_144
/** Writes of a piece, and keys or ranges of a portion: these take some milliseconds. */
const pieceWrites = 1_000
const portionReads = 1_000
/** Maximum number of keys and ranges of a read set that are sent with the head. */
const plainReadsMax = 100

/** Encodes an attempt without its result. An attempt that another process has sent is passed on unchanged. */
export function packAttempt(attempt: Attempt<unknown>): PackedAttempt {
  if (attempt.packed) return attempt.packed
  const { loadReads: _loadReads, pieces: _pieces, reads, writes, ...rest } = attempt
  const encoded = encodeWrites(writes)
  const head = { ...rest, result: undefined, rows: writes.length }
  if (reads.keys.size + reads.ranges.length <= plainReadsMax)
    return { head: { ...head, reads, lengths: [encoded.length] }, body: encoded }
  const parts = [encoded, ...portionsOf(reads).map(portion => serialize(portion))]
  return { head: { ...head, lengths: parts.map(({ length }) => length) }, body: joinBytes(parts) }
}

function portionsOf({ keys, ranges }: ReadSet): Portion[] {
  const rows = [...keys]
  const portions: Portion[] = []
  for (let at = 0; at < Math.max(rows.length, ranges.length); at += portionReads)
    portions.push({
      keys: rows.slice(at, at + portionReads),
      ranges: ranges.slice(at, at + portionReads),
    })
  return portions
}

/**
 * Decodes an attempt; `parts` are the received parts of its body. Other requests are served while a large attempt is
 * decoded.
 */
export async function unpackAttempt(head: AttemptHead, parts: readonly Bytes[]): Promise<Attempt<undefined>> {
  const { lengths, reads, rows, ...rest } = head
  const [writesBytes = 0, ...portions] = lengths
  if (reads !== undefined && writesBytes <= longWritesBytes)
    return { ...rest, reads, writes: decodeWrites(plain(joinBytes(parts))) }
  const body = await joinInTurns(parts)
  const encoded = body.subarray(0, writesBytes)
  const loadReads = () => readSetOf(body.subarray(writesBytes), portions)
  const attempt = {
    ...rest,
    packed: { head, body },
    ...(reads ? { reads } : { reads: { keys: new Map(), ranges: [] }, loadReads }),
  }
  if (writesBytes <= longWritesBytes) return { ...attempt, writes: decodeWrites(encoded) }
  return { ...attempt, writes: [], pieces: time => piecesOf(encoded, rows, head.commitTime, time) }
}

/** The same bytes as a plain Uint8Array, whose `slice` copies. The `slice` of a Buffer does not copy. */
function plain({ buffer, byteLength, byteOffset }: Bytes): Bytes {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Joins parts over several turns of the event loop. The result is a plain Uint8Array and not a Buffer. */
async function joinInTurns(parts: readonly Bytes[]): Promise<Bytes> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let [at, turnAt] = [0, megabyte]
  for (const part of parts) {
    if (at >= turnAt) {
      turnAt = at + megabyte
      await turn()
    }
    joined.set(part, at)
    at += part.length
  }
  return joined
}

async function readSetOf(body: Bytes, lengths: readonly number[]): Promise<ReadSet> {
  const portions: Portion[] = []
  let at = 0
  for (const length of lengths) {
    if (at > 0) await turn()
    portions.push(deserialize(body.subarray(at, at + length)) as Portion)
    at += length
  }
  return { keys: keysOf(portions), ranges: portions.flatMap(({ ranges }) => ranges) }
}

/** The keys of all portions. They are not joined, because a `Map` that grows beyond 100 000 keys takes 20 ms for that. */
function keysOf(portions: readonly Portion[]): KeyReads {
  return {
    size: portions.reduce((sum, { keys }) => sum + keys.length, 0),
    *[Symbol.iterator]() {
      for (const { keys } of portions) yield* keys
    },
  }
}

/** The writes made for the time `from`, rebased to the time `to`. This may split a write into two, but not more. */
function piecesOf(encoded: Bytes, rows: number, from: Micros, to: Micros): EncodedWrites {
  const factor = from === to ? 1 : 2
  return {
    rowsMax: rows * factor,
    bytesMax: encoded.length * factor,
    *[Symbol.iterator]() {
      const reader = new WriteReader(encoded)
      for (let start = 0; start < encoded.length; ) {
        let end = start
        for (let count = 0; count < pieceWrites && end < encoded.length; count++) {
          reader.read(end)
          end = reader.end
        }
        const piece = encoded.subarray(start, end)
        const writes = () => writesAt({ commitTime: from, writes: decodeWrites(piece) }, to)
        yield from === to ? piece : encodeWrites(writes())
        start = end
      }
    },
  }
}
