// Metrics of the continuous backup.

import { Gauge, type Registry } from 'prom-client'

/** The state of the continuous backup. Times are seconds since the Unix epoch; null if there is no such time yet. */
export interface BackupFigures {
  readonly isFailing: boolean
  readonly lastSuccess: number | null
  readonly lagSeconds: number
  readonly waitingBytes: number
  readonly droppedBytes: number
  readonly oldestRestorable: number | null
  readonly newestRestorable: number | null
}

/** Adds the metrics of a backup; `figures` returns its current state. */
export function measureBackup(registry: Registry, figures: () => BackupFigures): void {
  const gauge = (metric: string, help: string, value: (of: BackupFigures) => number | null) => {
    const collect = function (this: Gauge) {
      this.set(value(figures()) ?? 0)
    }
    // All workers report the same backup, so the maximum is used instead of the sum.
    const name = `terrarium_backup_${metric}`
    new Gauge({ name, help, registers: [registry], aggregator: 'max', collect })
  }
  gauge('failing', '1 while the continuous backup cannot be written.', of => (of.isFailing ? 1 : 0))
  gauge(
    'last_success_timestamp_seconds',
    'Time at which the continuous backup last contained all commits; 0: never since the start.',
    of => of.lastSuccess,
  )
  gauge(
    'lag_seconds',
    'How long the oldest commit has waited for the continuous backup.',
    of => of.lagSeconds,
  )
  gauge('waiting_bytes', 'Bytes that wait for the continuous backup.', of => of.waitingBytes)
  gauge(
    'dropped_bytes',
    'Bytes of commits that the continuous backup has left out since its start.',
    of => of.droppedBytes,
  )
  gauge(
    'oldest_restorable_timestamp_seconds',
    'The first time that can be restored; 0: none.',
    of => of.oldestRestorable,
  )
  gauge(
    'newest_restorable_timestamp_seconds',
    'The last time that can be restored; 0: none.',
    of => of.newestRestorable,
  )
}
