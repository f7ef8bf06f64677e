// The folder of segments, which several processes share. A segment is a file with records of the query log. Each
// process writes its own segments, one after the other:
//
//     0001700000000000000-3f9a….log     records since that time (microseconds), by the writer 3f9a…
//     0001700000000000000-3f9a….ndjson  the same as lines, written by a version before 1.0
//     0001700000000000000-m3f9a….log    a copy of another machine's segment, as far as it was uploaded
//     3f9a….live                        the writer has written all its records up to this file's modification time
//
// A segment may end with an incomplete record, because its writer crashed or is still writing. The oldest segments are
// removed when they exceed the configured age, or when all segments together exceed the configured size.

import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { micros, microsPerDay, nearestMicros } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Micros } from '../values/value.ts'

/** A segment according to its file name. */
export interface Segment {
  readonly path: string
  /** Microseconds: all records are at or after this time. */
  readonly from: Micros
  readonly writer: string
  /** True if this is a copy of another machine's segment. The copy grows when the other machine uploads more data. */
  readonly isCopy: boolean
  /** True if this is the newest segment of its writer. */
  readonly isNewest: boolean
  /** Microseconds: all records are before this time, at which the writer's next segment begins. */
  readonly until: Micros | undefined
}

/** A time span in milliseconds since the Unix epoch: `from` is inclusive, `to` exclusive. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/**
 * Milliseconds of tolerance in comparisons of times, so that a search misses no records. Clocks may change, and some
 * file systems store times in whole seconds.
 */
export const slackMs = 5000

const segmentPattern = /^(\d{19})-(m?)([0-9a-f]+)\.(?:log|ndjson)$/
const livePattern = /^([0-9a-f]+)\.live$/

/** A writer that has reported nothing for this many milliseconds is regarded as crashed. */
const silentMs = 10_000
/** Polling interval while waiting for writers, in milliseconds. */
const pollEveryMs = 20

export function segmentPath(folder: string, from: Micros, writer: string): string {
  return join(folder, `${String(from).padStart(19, '0')}-${writer}.log`)
}

/** The path of the copy of another machine's segment. `hasLines`: a version before 1.0 has written the segment. */
export function copyPath(folder: string, from: Micros, writer: string, hasLines: boolean): string {
  const path = segmentPath(folder, from, `m${writer}`)
  return hasLines ? path.replace(/log$/, 'ndjson') : path
}

/** Returns whether a segment consists of lines: a version before 1.0 has written the segment. */
export function hasLines(segmentPath: string): boolean {
  return segmentPath.endsWith('.ndjson')
}

/** The file in which a writer reports its progress. */
export function livePath(folder: string, writer: string): string {
  return join(folder, `${writer}.live`)
}

/** Returns the segments of the folder, the oldest first. */
export async function listSegments(folder: string): Promise<Segment[]> {
  const segments = ((await ifPresent(readdir(folder))) ?? []).sort().flatMap(name => {
    const [, from, copied, writer] = segmentPattern.exec(name) ?? []
    if (from === undefined || writer === undefined) return []
    return { path: join(folder, name), from: nearestMicros(Number(from)), writer, isCopy: copied !== '' }
  })
  const next = new Map<string, Micros>()
  const found = segments.reverse().map(segment => {
    const until = next.get(segment.writer)
    next.set(segment.writer, segment.from)
    return { ...segment, isNewest: until === undefined, until }
  })
  return found.reverse()
}

/**
 * Returns the segments that may contain records of a span, oldest first, each with a time after its last record. This is
 * the time of the last write, or the start of the next segment: a copy of the files may have the time of the copying.
 */
export async function segmentsOf(
  folder: string,
  { from, to }: TimeSpan,
): Promise<readonly (Segment & { readonly endedMs: number })[]> {
  const found = []
  for (const segment of await listSegments(folder)) {
    if (segment.from / 1000 >= to) break
    const modified = await modificationTime(segment.path)
    if (modified === undefined) continue
    const endedMs = Math.min(modified, segment.until ?? modified) / 1000
    if (endedMs + slackMs >= from) found.push({ ...segment, endedMs })
  }
  return found
}

/** Reports that a writer has written all its records up to `time`. */
export function announce(folder: string, writer: string, time: Micros): Promise<void> {
  return utimes(livePath(folder, writer), time / 1e6, time / 1e6)
}

/** Returns the writers, each with the time in microseconds up to which the writer has written its records. */
async function listWriters(folder: string): Promise<Map<string, Micros>> {
  const writers = new Map<string, Micros>()
  for (const name of await readdir(folder)) {
    const writer = livePattern.exec(name)?.[1]
    if (writer === undefined) continue
    const modified = await modificationTime(join(folder, name))
    if (modified !== undefined) writers.set(writer, modified)
  }
  return writers
}

/** Returns the modification time of a file in microseconds; undefined if the file does not exist. */
export async function modificationTime(path: string): Promise<Micros | undefined> {
  const about = await ifPresent(stat(path))
  return about && micros(Math.ceil(about.mtimeMs * 1000))
}

/** Returns the result of a file operation; undefined if the file does not exist. */
export async function ifPresent<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function liveWriters(folder: string, now: Micros): Promise<ReadonlySet<string>> {
  const writers = await listWriters(folder)
  return new Set([...writers].filter(([, until]) => until > now - silentMs * 1000).map(([writer]) => writer))
}

/** Waits until every writer has written its records up to `time`, or has stopped reporting. */
export async function writtenUpTo(
  folder: string,
  time: Micros,
  { now, timers, signal }: { now: () => Micros; timers: Timers; signal?: AbortSignal },
): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const silentSince = now() - silentMs * 1000
    const writers = await listWriters(folder)
    if ([...writers.values()].every(until => until >= time || until < silentSince)) return
    await wait(pollEveryMs, timers)
  }
}

/** Stored sums of segments (log-summary.ts), below the folder of the segments. */
export const sumsFolder = 'sums'

export const sumsName = (segmentPath: string) => basename(segmentPath).replace(/\.\w+$/, '.json.gz')

/** Does nothing if the file does not exist. */
export function removeFile(path: string): Promise<void> {
  return rm(path, { force: true })
}

/** Name in the data directory. */
export const queryLogFolder = 'query-log'

/**
 * The limits of the log. Closed segments that are older than `days` are removed. Then the oldest are removed until
 * the remaining segments fit into `bytes`, together with their sums. Every process may remove segments; the processes
 * need no coordination.
 */
export interface Retention {
  readonly days: number
  readonly bytes: number
}

/**
 * Deletes the segments that exceed `retention` at `now`, except segments to which a live writer may append.
 * `wallTime`: the current time for finding live writers; may differ from `now` (base/removal-time.ts).
 */
export async function removeOldSegments(
  folder: string,
  retention: Retention,
  now: Micros,
  wallTime: Micros = now,
): Promise<void> {
  const segments = await listSegments(folder)
  const live = await liveWriters(folder, wallTime)
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
    const sums = await ifPresent(stat(join(folder, sumsFolder, sumsName(path))))
    const size = about.size + (sums?.size ?? 0)
    total += size
    if (isClosed) closed.push({ path, size })
  }
  for (const { path, size } of closed) {
    if (total <= retention.bytes) break
    await removeFile(path)
    total -= size
  }
  // Writers that crashed long ago.
  for (const [writer, until] of await listWriters(folder))
    if (until < now - microsPerDay) await removeFile(livePath(folder, writer))
}
