// The folder of segment files, which several processes share. Each process writes segments of its own, one after
// the other:
//
//     0001700000000000000-3f9a….ndjson   records from that time (microseconds) on, by the writer 3f9a…
//     0001700000000000000-m3f9a….ndjson  the same of another machine: a copy of what that has handed over
//     3f9a….live                         its modification time: all records up to then are in the segments
//
// A segment may end in half a line, where its writer crashed or still writes.

import { open, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { micros, nearestMicros } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Micros } from '../values/value.ts'

/** A segment as its name tells it. */
export interface Segment {
  readonly path: string
  /** Microseconds: no record is older. */
  readonly from: Micros
  readonly writer: string
  /** A copy of a segment of another machine, which may grow when that hands over more. */
  readonly isCopy: boolean
  /** Its writer has begun none since. */
  readonly isNewest: boolean
}

/** A span of time, in milliseconds since the Unix epoch: first inclusive and last exclusive. */
export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** A clock that was set, or a file system that keeps whole seconds, must not hide records; milliseconds. */
export const slackMs = 5000

const segmentPattern = /^(\d{19})-(m?)([0-9a-f]+)\.ndjson$/
const livePattern = /^([0-9a-f]+)\.live$/

/** A writer that says nothing for so many milliseconds has crashed. */
const silentMs = 10_000
/** How often the writers are looked at while waiting for them, in milliseconds. */
const lookEveryMs = 20

/** The path of a new segment. */
export function segmentPath(folder: string, from: Micros, writer: string): string {
  return join(folder, `${String(from).padStart(19, '0')}-${writer}.ndjson`)
}

/** The path of the copy of another machine's segment. */
export function copyPath(folder: string, from: Micros, writer: string): string {
  return segmentPath(folder, from, `m${writer}`)
}

/** The file by which a writer says how far it is. */
export function livePath(folder: string, writer: string): string {
  return join(folder, `${writer}.live`)
}

/** All segments, oldest first. */
export async function listSegments(folder: string): Promise<Segment[]> {
  const segments = ((await ifThere(readdir(folder))) ?? []).sort().flatMap(name => {
    const [, from, copied, writer] = segmentPattern.exec(name) ?? []
    if (from === undefined || writer === undefined) return []
    return { path: join(folder, name), from: nearestMicros(Number(from)), writer, isCopy: copied !== '' }
  })
  const newest = new Map(segments.map(({ path, writer }) => [writer, path]))
  return segments.map(each => ({ ...each, isNewest: newest.get(each.writer) === each.path }))
}

/** The segments that may hold records of a span, oldest first, with when each was last written to. */
export async function segmentsOf(
  folder: string,
  { from, to }: TimeSpan,
): Promise<readonly (Segment & { readonly endedMs: number })[]> {
  const found = []
  for (const segment of await listSegments(folder)) {
    if (segment.from / 1000 >= to) break
    const ended = await modificationTime(segment.path)
    if (ended !== undefined && ended / 1000 + slackMs >= from)
      found.push({ ...segment, endedMs: ended / 1000 })
  }
  return found
}

/** Says that everything recorded up to `time` has been written. */
export function announce(folder: string, writer: string, time: Micros): Promise<void> {
  return utimes(livePath(folder, writer), time / 1e6, time / 1e6)
}

/** Writers and the time up to which each has written, in microseconds. */
export async function listWriters(folder: string): Promise<Map<string, Micros>> {
  const writers = new Map<string, Micros>()
  for (const name of await readdir(folder)) {
    const writer = livePattern.exec(name)?.[1]
    if (writer === undefined) continue
    const modified = await modificationTime(join(folder, name))
    if (modified !== undefined) writers.set(writer, modified)
  }
  return writers
}

/** The modification time of a file in microseconds; undefined when it is gone. */
export async function modificationTime(path: string): Promise<Micros | undefined> {
  const about = await ifThere(stat(path))
  return about && micros(Math.ceil(about.mtimeMs * 1000))
}

/** What is done with a file; undefined when there is none, as where retention has removed it since it was listed. */
export async function ifThere<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The writers that are alive at `now`. */
export async function liveWriters(folder: string, now: Micros): Promise<ReadonlySet<string>> {
  const writers = await listWriters(folder)
  return new Set([...writers].filter(([, until]) => until > now - silentMs * 1000).map(([writer]) => writer))
}

/** Waits until every writer has written all it recorded up to `time`, or has fallen silent. */
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
    await wait(lookEveryMs, timers)
  }
}

/** Makes the names in a folder survive a crash of the machine. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes a file that may be gone already. */
export function removeFile(path: string): Promise<void> {
  return rm(path, { force: true })
}
