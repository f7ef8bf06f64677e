// Messages between the service and the process that writes its continuous backup.

import type { LevelWithSilent } from 'pino'
import type { Micros } from '../base/micros.ts'
import type { ChainPlace } from '../storage/log/segment.ts'

/** The settings of the process. */
export interface BackupSetup {
  /** The data directory. */
  readonly data: string
  /** The address of the target. */
  readonly target: string
  readonly retentionDays: number
  readonly logLevel: LevelWithSilent
  /** `log`: the name of the commit log. `place`: the record before the first record that is sent. */
  readonly log: Uint8Array
  readonly place: ChainPlace
}

/**
 * `records`: the body of the message has complete records, from the first record after `before` to the record at
 * `place`. `watermark`: the records up to the record at `place` contain all commits up to `time`, because no commit with
 * this time or an earlier time is in progress.
 */
export type ToBackup =
  | { readonly kind: 'setup'; readonly setup: BackupSetup }
  | { readonly kind: 'records'; readonly before: ChainPlace; readonly place: ChainPlace }
  | { readonly kind: 'watermark'; readonly place: ChainPlace; readonly time: Micros }

/** From the process to the service: the target contains all records up to the record with the number `sequence`. */
export interface WrittenRecords {
  readonly sequence: number
}
