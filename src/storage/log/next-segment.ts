// Prepares the file of the next segment in advance, so that commits rarely wait for a new file.

import type { SegmentFile, SegmentFiles } from './segment-files.ts'

export class NextSegment {
  readonly #files: SegmentFiles
  readonly #segmentBytes: number
  #number = 0
  #file: Promise<SegmentFile>

  /** Begins to prepare segment `number`. `segmentBytes`: bytes of an ordinary segment. */
  constructor(files: SegmentFiles, segmentBytes: number, number: number) {
    this.#files = files
    this.#segmentBytes = segmentBytes
    this.#file = this.prepare(number)
  }

  /** Begins to prepare a file for the segment `number`, in place of the file prepared before. */
  prepare(number: number, bytes = this.#segmentBytes): Promise<SegmentFile> {
    this.#number = number
    this.#file = this.#files.make(number, bytes)
    // The commit that needs the segment reports a failure.
    this.#file.catch(() => undefined)
    return this.#file
  }

  /**
   * If the preparation has failed, prepares an ordinary file again, because the disk may work again. Rejects if this
   * fails, too.
   */
  async ready(): Promise<SegmentFile> {
    const file = this.#file
    try {
      return await file
    } catch {
      return this.#file === file ? this.prepare(this.#number) : this.#file
    }
  }

  /** Returns undefined if the preparation has failed. */
  prepared(): Promise<SegmentFile | undefined> {
    return this.#file.catch(() => undefined)
  }
}
