// The status of a continuous backup, as the health report contains it and the dashboard displays it. This file contains
// only types, because the dashboard also imports it.

/**
 * Times are since the Unix epoch. `last_success` and `waiting_since` are in milliseconds. The restorable times are
 * transaction times, in microseconds.
 */
export interface BackupStatus {
  /** Address of the target without credentials. */
  readonly target: string
  /** `starting` until the first write succeeds or fails; `failing` after a failure, until a write succeeds. */
  readonly state: 'starting' | 'running' | 'failing' | 'stopped'
  /** The reason for the latest failure; null if a write has succeeded since then. */
  readonly reason: string | null
  /** Last time of a successful write after which no record was pending; null before the first such write. */
  readonly last_success: number | null
  /** Time at which the backup process received the oldest pending record; null if no record is pending. */
  readonly waiting_since: number | null
  /** Bytes of the pending records, which may be compressed already. */
  readonly waiting_bytes: number
  /**
   * Bytes of pending records that were dropped, for example because too many bytes waited for the target. A restore to
   * a time of the dropped commits is impossible.
   */
  readonly dropped_bytes: number
  /** Bytes written to the target since the start, base copies included. */
  readonly uploaded_bytes: number
  /** First and last transaction time that can be restored; null until there is a base copy. */
  readonly oldest_restorable: number | null
  readonly newest_restorable: number | null
}
