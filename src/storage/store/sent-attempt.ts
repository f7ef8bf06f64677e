// Encodes and decodes attempts (evaluated transactions) that one process sends to the committing process. The
// committing process serves all clients, so each of its steps must be short. For this reason, it validates the encoded
// read set without decoding. It appends long encoded writes to the log unchanged, unless it must rebase them (change
// their commit time).

import { setImmediate as turn } from 'node:timers/promises'
import { joinBytes, megabyte } from '../../base/bytes.ts'
import type { Micros } from '../../values/value.ts'
import { decodeWrites, encodeWrites, WriteReader } from '../kv/batch.ts'
import type { Bytes, EncodedWrites } from '../kv/kv-contract.ts'
import { PackedReads, packReads } from '../kv/packed-reads.ts'
import { type Attempt, type AttemptHead, type PackedAttempt, writesAt } from './attempt.ts'

/** Encoded writes with more than this many bytes are appended to the log in pieces. */
const longWritesBytes = 262_144
/** Rebasing and appending a piece takes a few milliseconds. */
const pieceWrites = 500

/** Encodes an attempt without its result. */
export function packAttempt(attempt: Attempt<unknown>): PackedAttempt {
  const { pieces: _pieces, reads, writes, ...rest } = attempt
  const packed = packReads(reads)
  const head = { ...rest, result: undefined, rows: writes.length, readsBytes: packed.length }
  return { head, body: joinBytes([packed, encodeWrites(writes)]) }
}

/**
 * `parts`: the received parts of the body. The parts of a large body are joined over several turns of the event loop,
 * so that other requests are served meanwhile.
 */
export async function unpackAttempt(head: AttemptHead, parts: readonly Bytes[]): Promise<Attempt<undefined>> {
  const { readsBytes, rows, ...rest } = head
  const body = await joinInTurns(parts)
  const encoded = body.subarray(readsBytes)
  const attempt = { ...rest, reads: new PackedReads(body.subarray(0, readsBytes)) }
  if (encoded.length <= longWritesBytes) return { ...attempt, writes: decodeWrites(encoded) }
  return { ...attempt, writes: [], pieces: time => piecesOf(encoded, rows, head.commitTime, time) }
}

/** Joins the parts over several turns of the event loop. The result is a plain Uint8Array and not a Buffer. */
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

/**
 * `from`: the commit time that the writes assume. `to`: the actual commit time. If the times differ, each piece is
 * rebased to `to`. The maxima are then doubled, because rebasing turns one write into at most two writes.
 */
function piecesOf(encoded: Bytes, rows: number, from: Micros, to: Micros): EncodedWrites {
  const factor = from === to ? 1 : 2
  return {
    rowsMax: rows * factor,
    bytesMax: encoded.length * factor,
    [Symbol.iterator]: () => rebasedPieces(encoded, from, to),
  }
}

function* rebasedPieces(encoded: Bytes, from: Micros, to: Micros): Generator<Bytes> {
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
}
