// Stores the sequence number of the newest durable record of a commit log, in a file of eight bytes in the folder of
// the log. Other processes of the machine read the number before each snapshot. The file is never flushed, because the
// next committing process writes the number again when it opens the log.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const fileName = 'durable'

export class DurableSequence {
  readonly #descriptor: number
  readonly #numbers = new Float64Array(1)
  readonly #bytes = new Uint8Array(this.#numbers.buffer)

  /**
   * `folder`: the folder of the log. `mode`: whether the process reads or writes the number. The committing process
   * creates the file.
   */
  constructor(folder: string, mode: 'read' | 'write') {
    this.#descriptor = openSync(join(folder, fileName), mode === 'read' ? 'r' : 'w+', 0o600)
  }

  /** The number that the committing process wrote most recently. */
  read(): number {
    readSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0)
    return this.#numbers[0] as number
  }

  /** Publishes a durable record to readers. Called before the commits in the record are acknowledged. */
  write(sequence: number): void {
    this.#numbers[0] = sequence
    writeSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
