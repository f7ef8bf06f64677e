// Collects bytes that arrive in pieces whose lengths the client chooses. Even a short piece has an overhead of some
// hundred bytes of memory, so short pieces are copied into longer buffers as they arrive.

/** Approximate memory of a piece in addition to its bytes. */
export const pieceOverheadBytes = 256

/** Shorter pieces are copied. */
const shortPieceBytes = 1024

/** Buffers for short pieces grow up to this length. */
const joinedBytes = 16_384

export class Pieces {
  readonly #pieces: Buffer[] = []
  /** The buffer for short pieces, and its filled length. It is the last piece, but not in `#pieces` yet. */
  #tail: Buffer | undefined
  #filled = 0
  /** Length in bytes. */
  length = 0

  /** Counts a buffer with several short pieces as one. */
  get count(): number {
    return this.#pieces.length + (this.#tail === undefined ? 0 : 1)
  }

  /** Returns the additional memory in bytes, including the overhead of a new buffer. */
  add(piece: Buffer): number {
    const before = this.count
    this.length += piece.length
    // The first piece is never copied, because most bodies are one piece.
    if (piece.length >= shortPieceBytes || before === 0) {
      this.#closeTail()
      this.#pieces.push(piece)
    } else this.#copy(piece)
    return piece.length + (this.count - before) * pieceOverheadBytes
  }

  list(): readonly Buffer[] {
    this.#closeTail()
    return this.#pieces
  }

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

  /** Completes the buffer for short pieces, and frees its unused part. */
  #closeTail(): void {
    const tail = this.#tail
    if (tail === undefined) return
    const filled = tail.subarray(0, this.#filled)
    this.#pieces.push(this.#filled === tail.length ? filled : Buffer.from(filled))
    this.#tail = undefined
    this.#filled = 0
  }
}
