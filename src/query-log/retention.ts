// Removes old segments: first those beyond the configured days, then the oldest ones until the rest fits into the
// configured bytes. Every process does this; their order does not matter.

import { stat } from 'node:fs/promises'
import { microsPerDay } from '../base/micros.ts'
import type { Micros } from '../values/value.ts'
import { listSegments, listWriters, livePath, liveWriters, removeFile } from './segment-files.ts'

export interface Retention {
  readonly days: number
  readonly bytes: number
}

/**
 * Deletes the segments that have expired at `now`. Segments that a live writer may still append to are kept. `clock`
 * determines which writers are live; it may differ from `now` (base/removal-time.ts).
 */
export async function removeOldSegments(
  folder: string,
  retention: Retention,
  now: Micros,
  clock: Micros = now,
): Promise<void> {
  const segments = await listSegments(folder)
  const live = await liveWriters(folder, clock)
  const oldest = now - retention.days * microsPerDay
  const closed: { readonly path: string; readonly size: number }[] = []
  let total = 0
  for (const { isNewest, path, writer } of segments) {
    const about = await stat(path).catch(() => undefined)
    if (about === undefined) continue
    const isClosed = !live.has(writer) || !isNewest
    if (isClosed && about.mtimeMs * 1000 < oldest) {
      await removeFile(path)
      continue
    }
    total += about.size
    if (isClosed) closed.push({ path, size: about.size })
  }
  for (const { path, size } of closed) {
    if (total <= retention.bytes) break
    await removeFile(path)
    total -= size
  }
  for (const [writer, until] of await listWriters(folder)) {
    if (until < now - microsPerDay) await removeFile(livePath(folder, writer))
  }
}
