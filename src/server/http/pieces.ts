// Bytes that arrive in pieces whose lengths the client decides. A piece takes some hundred bytes of memory beside its own,
// however short it is, so short ones are copied into longer ones as they arrive.

/** What a piece takes in memory besides its bytes, roughly. */
export const pieceOverheadBytes = 256

/** Shorter pieces are copied. */
const shortPieceBytes = 1024

/** How long the pieces are that short ones are copied into: the first few bytes take less. */
const joinedBytes = 16_384

export class Pieces {
  readonly #pieces: Buffer[] = []
  /** Where short pieces are copied to, and how much of it is filled; the last piece, but not in the list yet. */
  #tail: Buffer | undefined
  #filled = 0
  /** Bytes. */
  length = 0

  /** How many there are, copied ones counted as what they were joined to. */
  get count(): number {
    return this.#pieces.length + (this.#tail === undefined ? 0 : 1)
  }

  /** Takes a piece, and returns how many bytes more are held: its own, and the overhead when it was not joined to another. */
  add(piece: Buffer): number {
    const before = this.count
    this.length += piece.length
    // Most bodies are one piece.
    if (piece.length >= shortPieceBytes || before === 0) {
      this.#closeTail()
      this.#pieces.push(piece)
    } else this.#copy(piece)
    return piece.length + (this.count - before) * pieceOverheadBytes
  }

  /** All pieces, in their order. */
  list(): readonly Buffer[] {
    this.#closeTail()
    return this.#pieces
  }

  /** The bytes in one piece. */
  joined(): Buffer {
    const pieces = this.list()
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, this.length)
  }

  #copy(piece: Buffer): void {
    if (this.#tail === undefined || this.#tail.length - this.#filled < piece.length) {
      this.#closeTail()
      this.#tail = Buffer.allocUnsafeSlow(Math.min(joinedBytes, Math.max(shortPieceBytes, this.length)))
    }
    this.#filled += piece.copy(this.#tail, this.#filled)
  }

  /** What is not filled is given back. */
  #closeTail(): void {
    const tail = this.#tail
    if (tail === undefined) return
    const filled = tail.subarray(0, this.#filled)
    this.#pieces.push(this.#filled === tail.length ? filled : Buffer.from(filled))
    this.#tail = undefined
    this.#filled = 0
  }
}
