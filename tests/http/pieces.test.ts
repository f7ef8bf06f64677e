// Bytes that arrive in pieces: the number of kept pieces, their counted memory, and completeness.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pieces, pieceOverheadBytes } from '../../src/server/http/pieces.ts'

/** Numbered bytes, cut into pieces of these lengths, repeatedly. */
function cut(bytes: number, lengths: readonly number[]): Buffer[] {
  const all = Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => at % 251))
  const pieces: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes; turn++) {
    const length = lengths[turn % lengths.length] as number
    pieces.push(all.subarray(at, at + length))
    at += length
  }
  return pieces
}

for (const lengths of [
  [1],
  [2],
  [1, 1023],
  [1023],
  [1024],
  [1, 4096],
  [0, 1],
  [16_384, 1, 1, 700],
  [300_000],
]) {
  test(`200 000 bytes in pieces of ${lengths.join(', ')}`, () => {
    const given = cut(200_000, lengths)
    const pieces = new Pieces()
    let charged = 0
    for (const piece of given) {
      charged += pieces.add(piece)
      assert.equal(charged, pieces.length + pieces.count * pieceOverheadBytes)
    }
    const count = pieces.count
    assert.ok(count <= 2 + (2 * 200_000) / 1024, `${count} pieces`)
    const list = pieces.list()
    assert.equal(list.length, count)
    const memory = list.reduce((sum, piece) => sum + piece.length, 0)
    assert.equal(memory, 200_000)
    assert.deepEqual(Buffer.concat(list), Buffer.concat(given))
    assert.deepEqual(pieces.joined(), Buffer.concat(given))
  })
}

test('a single piece is kept unchanged', () => {
  const pieces = new Pieces()
  const piece = Buffer.from('short')
  pieces.add(piece)
  assert.equal(pieces.joined(), piece)
  assert.equal(new Pieces().joined().length, 0)
})
