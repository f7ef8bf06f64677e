// Summaries over a time span of the query log. A segment is a file of the log. A shape is the text of a query without
// its values. For each closed segment, the aggregate (sums by database, minute and shape, see log-aggregate.ts) is
// computed once and stored in a separate file. Segments that are only partly in the span are read again.

import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Random } from '../base/random.ts'
import { inSlices } from '../base/slices.ts'
import { upsert } from '../base/upsert.ts'
import type { Micros } from '../values/value.ts'
import {
  addAggregateLine,
  addTimedTotals,
  addTotals,
  aggregateLines,
  type DatabaseAggregate,
  isCurrentFormat,
  LogAggregate,
  minuteMs,
  noTimedTotals,
  quantile,
  type TimedTotals,
  type Totals,
  totalsNamed,
} from './log-aggregate.ts'
import { changesBetween, type LogChanges, startBefore } from './log-changes.ts'
import { isWithin, trailOf } from './ownership.ts'
import {
  ifPresent,
  listSegments,
  liveWriters,
  removeFile,
  type Segment,
  segmentsOf,
  slackMs,
  sumsFolder,
  sumsName,
  type TimeSpan,
} from './segment-files.ts'
import { type RecordFilter, recordsOfSegment } from './segment-reader.ts'
import { operationsOf } from './segment-record.ts'

/** Sums, and the p50 and p99 of the durations in milliseconds. The percentiles are undefined without requests. */
interface SummaryTotals extends Totals {
  readonly p50: number | undefined
  readonly p99: number | undefined
}

/** The sums of one interval of the span. */
interface SummaryPoint extends SummaryTotals {
  /** Milliseconds since the Unix epoch. */
  readonly time: number
}

export interface LogSummary {
  readonly totals: SummaryTotals
  /** Milliseconds between two points. */
  readonly stepMs: number
  readonly points: readonly SummaryPoint[]
  readonly shapes: readonly (Totals & { readonly shape: string })[]
  /** The errors, the most frequent first. `error`: the status, the code and the text. */
  readonly errors: readonly (Totals & { readonly error: string })[]
}

export interface SummaryFilter extends RecordFilter {
  readonly withoutDashboard?: boolean | undefined
}

/** Maximum number of points in a summary. */
const pointsMax = 240
/** Maximum number of shapes from each of the orders in `notableShapes`. */
const shapesPerOrder = 20
const errorsMax = 50
/** Maximum approximate size of all cached aggregates in bytes. */
const cachedBytesMax = 64_000_000
/** Measured bytes of memory: of the sums of a minute, a shape or an error, and of a class in the histogram of a minute. */
const bytesPerSum = 400
const bytesPerClass = 40
/**
 * Age in milliseconds after which the copy of another machine's newest segment no longer grows. Segments are closed
 * after an hour.
 */
const copyGrowsMs = 7_200_000

/** The records of a time span, of all databases or of a database (an id in decimal) and its descendants. */
interface SegmentPart extends TimeSpan {
  readonly database?: string | undefined
}

/** Extends a span to whole minutes, because aggregates have one sum for each minute. */
export function wholeMinutes({ from, to }: TimeSpan): TimeSpan {
  return { from: Math.floor(from / minuteMs) * minuteMs, to: Math.ceil(to / minuteMs) * minuteMs }
}

export class LogSummaries {
  readonly #folder: string
  readonly #sumsFolder: string
  readonly #random: Random
  readonly #now: () => Micros
  readonly #aggregates = new LRUCache<string, LogAggregate, { segment: Segment; signal: AbortSignal }>({
    maxSize: cachedBytesMax,
    sizeCalculation: bytesOf,
    // If the cache evicts an aggregate during its computation, the callers still get the aggregate.
    ignoreFetchAbort: true,
    fetchMethod: (_path, _stale, { context }) => this.#loadOrCompute(context.segment, context.signal),
  })

  /** `folder` contains the segments; aggregates are stored in a subfolder. */
  constructor(folder: string, random: Random, now: () => Micros) {
    this.#folder = folder
    this.#sumsFolder = join(folder, sumsFolder)
    this.#random = random
    this.#now = now
  }

  /**
   * Returns the summary of the matching records. The span is extended to {@link wholeMinutes}. Throws the reason of
   * `signal` once the signal is aborted.
   */
  async summary(filter: SummaryFilter, signal: AbortSignal): Promise<LogSummary> {
    return (await this.#collect({ ...filter, ...wholeMinutes(filter) }, signal)).finish()
  }

  /**
   * Returns the queries and errors that changed significantly compared with the preceding span of the same length.
   * Extends the span and throws like {@link summary}.
   */
  async changes(filter: SummaryFilter, signal: AbortSignal): Promise<LogChanges> {
    const { from, to } = wholeMinutes(filter)
    const before = await this.#collect({ ...filter, from: startBefore({ from, to }), to: from }, signal)
    const now = await this.#collect({ ...filter, from, to }, signal)
    return changesBetween(before, now)
  }

  /** The filter's span consists of whole minutes. */
  async #collect(filter: SummaryFilter, signal: AbortSignal): Promise<SummaryBuilder> {
    const { from, to } = filter
    const collected = new SummaryBuilder(from, to, filter)
    const segments = await segmentsOf(this.#folder, { from, to })
    // The live writers are read after the segments are listed. So if a writer starts between the two steps, the list
    // contains no segment of this writer.
    const now = this.#now()
    const live = await liveWriters(this.#folder, now)
    for (const segment of segments) {
      const { endedMs: end, isCopy, isNewest, writer } = segment
      const begin = segment.from / 1000
      const mayGrow = isCopy ? end > now / 1000 - copyGrowsMs : live.has(writer)
      const isOpen = mayGrow && isNewest
      const isWhole = begin - slackMs >= from && end + slackMs < to
      const part = { from, to, database: filter.database }
      const sums =
        isOpen || !isWhole
          ? await aggregateOf(segment, part, signal)
          : await this.#sumsOf(segment, part, signal)
      await collected.add(sums, signal)
    }
    return collected
  }

  /** Removes the sums of deleted segments. */
  async removeOrphans(): Promise<void> {
    const names = await readdir(this.#sumsFolder).catch(() => [])
    const segments = new Set((await listSegments(this.#folder)).map(({ path }) => sumsName(path)))
    for (const name of names) if (!segments.has(name)) await removeFile(join(this.#sumsFolder, name))
  }

  async #sumsOf(segment: Segment, part: SegmentPart, signal: AbortSignal): Promise<LogAggregate> {
    const fetch = () => this.#aggregates.forceFetch(segment.path, { context: { segment, signal } })
    // Concurrent callers share one computation. If the caller that started the computation is aborted, the computation
    // fails for all callers. Each caller then tries a second time.
    const sums = await fetch().catch(fetch)
    return part.database === undefined || sums.hasAllDatabases ? sums : aggregateOf(segment, part, signal)
  }

  async #loadOrCompute(segment: Segment, signal: AbortSignal): Promise<LogAggregate> {
    const path = join(this.#sumsFolder, sumsName(segment.path))
    const read = await readSums(path, signal)
    const sums =
      read ??
      (await aggregateOf(segment, { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }, signal))
    if (read === undefined) await this.#store(path, sums)
    return sums
  }

  /** Stores an aggregate. If the aggregate cannot be stored, a later request computes the aggregate again. */
  async #store(path: string, sums: LogAggregate): Promise<void> {
    const temporary = `${path}.${this.#random.hex(8)}`
    try {
      await mkdir(this.#sumsFolder, { recursive: true, mode: 0o700 })
      const lines: string[] = []
      await inSlices(
        aggregateLines(sums),
        line => lines.push(line),
        () => undefined,
      )
      await writeFile(temporary, await compress(lines.join('')), { mode: 0o600 })
      await rename(temporary, path)
    } catch {
      await removeFile(temporary).catch(() => undefined)
    }
  }
}

function bytesOf({ databases }: LogAggregate): number {
  let bytes = bytesPerSum
  for (const { errors, minutes, shapes } of databases.values()) {
    bytes += (1 + minutes.size + shapes.size + errors.size) * bytesPerSum
    for (const { times } of minutes.values()) bytes += times.size * bytesPerClass
    for (const names of [shapes, errors]) for (const name of names.keys()) bytes += name.length
  }
  return bytes
}

// Shapes of queries resemble each other, and most numbers are small, so compression saves most of the bytes.
const compress = promisify<string, Buffer>(gzip)
const decompress = promisify<Buffer, Buffer>(gunzip)

/** Returns stored sums; undefined if the file is missing, is damaged or has another version. */
async function readSums(path: string, signal: AbortSignal): Promise<LogAggregate | undefined> {
  try {
    const packed = await ifPresent(readFile(path))
    if (packed === undefined) return undefined
    const [version = '', ...lines] = (await decompress(packed)).toString().trimEnd().split('\n')
    if (!isCurrentFormat(version)) return undefined
    const aggregate = new LogAggregate()
    await inSlices(
      lines,
      line => addAggregateLine(aggregate, line),
      () => signal.throwIfAborted(),
    )
    return aggregate
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

/** Aggregates the records of a part of a segment. With a database, descendants are added to this database. */
async function aggregateOf(
  segment: Segment,
  { database, from, to }: SegmentPart,
  signal: AbortSignal,
): Promise<LogAggregate> {
  const aggregate = new LogAggregate()
  const trail = database === undefined ? undefined : trailOf([BigInt(database)])
  for await (const records of recordsOfSegment(segment.path, signal)) {
    for (const record of records) {
      if (record.time < from || record.time >= to) continue
      if (database === undefined || isWithin(database, record.trail)) aggregate.add(record, trail)
    }
  }
  return aggregate
}

class SummaryBuilder {
  readonly #from: number
  readonly #to: number
  readonly #stepMs: number
  readonly #database: string | undefined
  readonly #withoutDashboard: boolean
  readonly #points = new Map<number, TimedTotals>()
  readonly shapes = new Map<string, Totals>()
  readonly errors = new Map<string, Totals>()
  readonly totals = noTimedTotals()

  constructor(from: number, to: number, { database, withoutDashboard = false }: SummaryFilter) {
    this.#from = from
    this.#to = to
    this.#stepMs = Math.max(1, Math.ceil((to - from) / minuteMs / pointsMax)) * minuteMs
    this.#database = database
    this.#withoutDashboard = withoutDashboard
  }

  /** Adds the aggregate of a segment, restricted to the database of the filter. */
  add({ databases }: LogAggregate, signal: AbortSignal): Promise<void> {
    return inSlices(
      databases.values(),
      database => this.#addDatabase(database),
      () => signal.throwIfAborted(),
    )
  }

  #addDatabase({ errors, isOfDashboard, minutes, shapes, trail }: DatabaseAggregate): void {
    if (isOfDashboard && this.#withoutDashboard) return
    if (this.#database !== undefined && !isWithin(this.#database, trail)) return
    for (const [minute, totals] of minutes) {
      const time = minute * minuteMs
      if (time < this.#from || time >= this.#to) continue
      addTimedTotals(this.#pointAt(time), totals)
      addTimedTotals(this.totals, totals)
    }
    for (const [shape, totals] of shapes) addTotals(totalsNamed(this.shapes, shape), totals)
    for (const [error, totals] of errors) addTotals(totalsNamed(this.errors, error), totals)
  }

  finish(): LogSummary {
    const points: SummaryPoint[] = []
    for (let time = this.#from; time < this.#to; time += this.#stepMs) {
      points.push({ time, ...withQuantiles(this.#points.get(time) ?? noTimedTotals()) })
    }
    return {
      totals: withQuantiles(this.totals),
      stepMs: this.#stepMs,
      points,
      shapes: notableShapes(this.shapes),
      errors: frequentErrors(this.errors),
    }
  }

  #pointAt(time: number): TimedTotals {
    const start = this.#from + Math.floor((time - this.#from) / this.#stepMs) * this.#stepMs
    return upsert(this.#points, start, noTimedTotals)
  }
}

function withQuantiles({ times, ...totals }: TimedTotals): SummaryTotals {
  return { ...totals, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

function frequentErrors(errors: ReadonlyMap<string, Totals>): LogSummary['errors'] {
  return [...errors]
    .map(([error, totals]) => ({ error, ...totals }))
    .sort((left, right) => right.requests - left.requests)
    .slice(0, errorsMax)
}

/**
 * Returns the notable shapes: the first shapes of each order. The orders are count, mean time, total time, longest
 * time and operations.
 */
function notableShapes(shapes: ReadonlyMap<string, Totals>): LogSummary['shapes'] {
  const orders: readonly ((totals: Totals) => number)[] = [
    totals => totals.requests,
    totals => totals.queryTimeMs / totals.requests,
    totals => totals.queryTimeMs,
    totals => totals.queryTimeMaxMs,
    operationsOf,
  ]
  const all = [...shapes].map(([shape, totals]) => ({ shape, ...totals }))
  const notable = new Set<LogSummary['shapes'][number]>()
  for (const order of orders) {
    for (const each of all.sort((left, right) => order(right) - order(left)).slice(0, shapesPerOrder))
      notable.add(each)
  }
  return [...notable]
}
