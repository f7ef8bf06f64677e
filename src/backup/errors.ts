// The errors of a continuous backup that are not bugs.

import { formatTime, timeFromMicros } from '../values/time.ts'

/** A backup cannot be written, read or restored. The message is one line for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}

/** Objects of a backup are missing or damaged. */
export class IncompleteBackupError extends BackupError {}

/** A time in messages, such as `2026-01-31T12:00:00.5Z`. Microseconds. */
export function timeText(micros: number): string {
  return formatTime(timeFromMicros(micros))
}
