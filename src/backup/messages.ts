// Messages between the service and the process that writes its continuous backup.

import type { LevelWithSilent } from 'pino'
import type { Micros } from '../base/micros.ts'
import type { ChainPlace } from '../storage/log/segment.ts'

export interface BackupSetup {
  /** The data directory of the service. */
  readonly data: string
  /** The address of the folder or bucket. */
  readonly target: string
  readonly retentionDays: number
  readonly logLevel: LevelWithSilent
  /** Name of the commit log. */
  readonly log: Uint8Array
  /** The record before the first record that is sent. */
  readonly place: ChainPlace
}

/**
 * `records`: the body of the message has complete records, from the first one after `before` to the one at `place`.
 * `watermark`: no commit with this time or an earlier time is in progress, and the records up to `place` contain all of
 * these commits.
 */
export type ToBackup =
  | { readonly kind: 'setup'; readonly setup: BackupSetup }
  | { readonly kind: 'records'; readonly before: ChainPlace; readonly place: ChainPlace }
  | { readonly kind: 'watermark'; readonly place: ChainPlace; readonly time: Micros }

/** The target contains all records up to the record with the number `sequence`. */
export interface WrittenRecords {
  readonly sequence: number
}
