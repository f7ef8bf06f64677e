// Gathers records into batches, keeps several of them under way, and takes their results in the order in which they
// were sent.

import type { BatchResult } from './batch-writer.ts'
import type { FilePlace } from './read-file.ts'
import type { DocumentRecord, RecordPlace } from './record.ts'

/** Where a record stands, and whether it came without an id. */
export interface RecordOrigin extends RecordPlace {
  readonly hasNewId: boolean
}

/** A batch with what became of it. */
export interface SentBatch {
  readonly records: readonly DocumentRecord[]
  /** Where each record stands. */
  readonly origins: readonly RecordOrigin[]
  /** Behind the last record. */
  readonly place: FilePlace
  readonly result: BatchResult
}

interface BatchSenderOptions {
  /** Batches under way at one time. */
  readonly atOnce: number
  readonly send: (records: readonly DocumentRecord[]) => Promise<BatchResult>
  /** Called for each batch, in order. What it throws ends the sending. */
  readonly settle: (batch: SentBatch) => void
}

/** Few enough to take some milliseconds, so that the service's other callers hardly notice. */
export const batchRecordsMax = 100
/** Characters of their texts. */
export const batchCharactersMax = 262_144

/** Gathers records and sends them in batches. */
export class BatchSender {
  readonly #options: BatchSenderOptions
  readonly #underWay: Promise<SentBatch>[] = []
  #records: DocumentRecord[] = []
  #origins: RecordOrigin[] = []
  #characters = 0
  #place: FilePlace | undefined

  constructor(options: BatchSenderOptions) {
    this.#options = options
  }

  /** Adds a record that stands before `place`; sends what has been gathered when it is enough. */
  async add(record: DocumentRecord, origin: RecordOrigin, place: FilePlace): Promise<void> {
    if (this.#records.length > 0 && this.#characters + record.size > batchCharactersMax)
      await this.#sendGathered()
    this.#records.push(record)
    this.#origins.push(origin)
    this.#characters += record.size
    this.#place = place
    if (this.#records.length >= batchRecordsMax) await this.#sendGathered()
  }

  /** Says that nothing more comes up to a place. */
  passed(place: FilePlace): void {
    if (this.#records.length > 0) this.#place = place
  }

  /** Sends what is left and settles all. */
  async end(): Promise<void> {
    await this.#sendGathered()
    while (this.#underWay.length > 0) await this.#settleOldest()
  }

  async #sendGathered(): Promise<void> {
    const { atOnce, send } = this.#options
    const [records, origins, place] = [this.#records, this.#origins, this.#place]
    if (records.length === 0 || place === undefined) return
    this.#records = []
    this.#origins = []
    this.#characters = 0
    while (this.#underWay.length >= atOnce) await this.#settleOldest()
    const sent = send(records).then(result => ({ records, origins, place, result }))
    // A caller that waits for an older one that fails never asks for this one.
    sent.catch(() => undefined)
    this.#underWay.push(sent)
  }

  async #settleOldest(): Promise<void> {
    const batch = await (this.#underWay.shift() as Promise<SentBatch>)
    this.#options.settle(batch)
  }
}
