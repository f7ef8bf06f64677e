// Groups records into batches, sends several batches concurrently, and handles the results in the order in which the
// batches were sent.

import type { BatchResult } from './batch-writer.ts'
import type { FilePlace } from './read-file.ts'
import type { DocumentRecord, RecordLocation } from './record.ts'

/** `hasNewId`: the file contained no id for the record. */
export interface RecordOrigin extends RecordLocation {
  readonly hasNewId: boolean
}

export interface BatchOutcome {
  readonly records: readonly DocumentRecord[]
  readonly origins: readonly RecordOrigin[]
  /** The place after the last record. */
  readonly place: FilePlace
  readonly result: BatchResult
}

interface BatchSenderOptions {
  /** Concurrent batches. */
  readonly atOnce: number
  readonly send: (records: readonly DocumentRecord[]) => Promise<BatchResult>
  /** Called in the order in which the batches were sent. If `onResult` throws, no further batches are sent. */
  readonly onResult: (batch: BatchOutcome) => void
}

/** A full batch takes some milliseconds, so it hardly delays other requests. */
export const batchRecordsMax = 100
/** Maximum number of characters in the texts of a batch's records. */
export const batchCharactersMax = 262_144

export class BatchSender {
  readonly #options: BatchSenderOptions
  readonly #running: Promise<BatchOutcome>[] = []
  #records: DocumentRecord[] = []
  #origins: RecordOrigin[] = []
  #characters = 0
  #place: FilePlace | undefined

  constructor(options: BatchSenderOptions) {
    this.#options = options
  }

  /** `place`: the place after the record. Sends the batch when it is full. */
  async add(record: DocumentRecord, origin: RecordOrigin, place: FilePlace): Promise<void> {
    if (this.#records.length > 0 && this.#characters + record.size > batchCharactersMax)
      await this.#sendGathered()
    this.#records.push(record)
    this.#origins.push(origin)
    this.#characters += record.size
    this.#place = place
    if (this.#records.length >= batchRecordsMax) await this.#sendGathered()
  }

  /** Moves the end of the current batch to `place`. No record may be in between. */
  extendTo(place: FilePlace): void {
    if (this.#records.length > 0) this.#place = place
  }

  /** Sends the last batch and waits for all results. */
  async end(): Promise<void> {
    await this.#sendGathered()
    while (this.#running.length > 0) await this.#finishOldest()
  }

  async #sendGathered(): Promise<void> {
    const { atOnce, send } = this.#options
    const [records, origins, place] = [this.#records, this.#origins, this.#place]
    if (records.length === 0 || place === undefined) return
    this.#records = []
    this.#origins = []
    this.#characters = 0
    while (this.#running.length >= atOnce) await this.#finishOldest()
    const sent = send(records).then(result => ({ records, origins, place, result }))
    // If an older batch fails, nothing awaits this promise. Its rejection must not count as unhandled.
    sent.catch(() => undefined)
    this.#running.push(sent)
  }

  async #finishOldest(): Promise<void> {
    const batch = await (this.#running.shift() as Promise<BatchOutcome>)
    this.#options.onResult(batch)
  }
}
