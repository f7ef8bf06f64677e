// The state of a continuous backup. Types alone, for the service and for the dashboard.

/** Times of the service's clock are milliseconds since the Unix epoch; times of transactions are microseconds. */
export interface BackupStatus {
  /** The folder or the bucket, without credentials. */
  readonly target: string
  /** `starting` until the first object is written; `failing` while objects cannot be written. */
  readonly state: 'starting' | 'running' | 'failing' | 'stopped'
  /** Why it is failing; null otherwise. */
  readonly reason: string | null
  /** When the target last took everything that was there to be written; null: never since the start. */
  readonly last_success: number | null
  /** When the oldest commit that waits became durable; null while none waits. */
  readonly waiting_since: number | null
  readonly waiting_bytes: number
  /** Bytes of the log that were given up because too many waited. Restorable times have a gap there. */
  readonly dropped_bytes: number
  /** Bytes written to the target since the start, base copies included. */
  readonly uploaded_bytes: number
  /** The first and the last transaction time that can be restored; null until there is a base copy. */
  readonly oldest_restorable: number | null
  readonly newest_restorable: number | null
}
