// Stores the sequence number of the newest durable record of a commit log, in a file of eight bytes in the folder of
// the log. Other processes of the machine read the number before each snapshot. The file is never flushed, because the
// next committing process writes the number again when it opens the log.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '../../base/assert.ts'
import { wait } from '../../base/timers.ts'

const fileName = 'durable'

/** Maximum number of attempts to publish a record, and the milliseconds between two attempts: a second altogether. */
const attemptsMax = 50
const intervalMs = 20

export class DurableSequence {
  readonly #descriptor: number
  readonly #numbers = new Float64Array(1)
  readonly #bytes = new Uint8Array(this.#numbers.buffer)

  /** `folder`: the folder of the log. `mode`: the committing process writes the number and creates the file. */
  constructor(folder: string, mode: 'read' | 'write') {
    this.#descriptor = openSync(join(folder, fileName), mode === 'read' ? 'r' : 'w+', 0o600)
  }

  /** The number that the committing process wrote most recently. */
  read(): number {
    readSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0)
    return this.#numbers[0] as number
  }

  /** Publishes the newest record when the log is opened. Throws the error of the disk. */
  write(sequence: number): void {
    this.#numbers[0] = sequence
    const written = writeSync(this.#descriptor, this.#bytes, 0, this.#bytes.length, 0)
    assert(written === this.#bytes.length, 'a write of eight bytes is complete or fails')
  }

  /**
   * Must resolve before the commits in the record are acknowledged. If the disk rejects the write, repeats it for a
   * second; then rejects with the error of the disk.
   */
  async publish(sequence: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.write(sequence)
        return
      } catch (error) {
        if (attempt === attemptsMax) throw error
        await wait(intervalMs)
      }
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
