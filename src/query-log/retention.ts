// Removes old segments: those past the configured days, then the oldest ones until the rest fits the configured
// bytes. Every process does so; which one comes first does not matter.

import { stat } from 'node:fs/promises'
import { microsPerDay } from '../base/durations.ts'
import type { Micros } from '../values/value.ts'
import { listSegments, listWriters, livePath, liveWriters, removeFile } from './segment-files.ts'

export interface Retention {
  readonly days: number
  readonly bytes: number
}

/**
 * Deletes what is no longer kept at the time `now`. Segments that a live writer may still write to stay: which writers
 * live is told by the clock, which may be elsewhere (base/removal-time.ts).
 */
export async function removeOldSegments(
  folder: string,
  retention: Retention,
  now: Micros,
  clock: Micros = now,
): Promise<void> {
  const live = await liveWriters(folder, clock)
  const segments = await listSegments(folder)
  const closed = segments.filter(({ isNewest, writer }) => !live.has(writer) || !isNewest)
  const closedPaths = new Set(closed.map(({ path }) => path))
  const sizes = new Map<string, number>()
  const oldest = now - retention.days * microsPerDay
  for (const { path } of segments) {
    const { size, mtimeMs } = await stat(path).catch(() => ({ size: 0, mtimeMs: now / 1000 }))
    sizes.set(path, size)
    if (mtimeMs * 1000 >= oldest || !closedPaths.has(path)) continue
    await removeFile(path)
    sizes.delete(path)
  }
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  for (const { path } of closed) {
    if (total <= retention.bytes) break
    const size = sizes.get(path)
    if (size === undefined) continue
    await removeFile(path)
    total -= size
  }
  for (const [writer, until] of await listWriters(folder)) {
    if (until < now - microsPerDay) await removeFile(livePath(folder, writer))
  }
}
