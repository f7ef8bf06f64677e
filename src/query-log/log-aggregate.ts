// Aggregates of the query log. For each database and minute, an aggregate has the numbers of requests and errors, the
// durations and the costs. For each shape of queries (the text of a query without its values) and for each error, it has
// the same sums for the whole time. Aggregates can be added up, so the aggregate of each segment (a file of the log)
// is stored and reused.

import { upsert } from '../base/upsert.ts'
import { isOfDashboard, type SegmentRecord } from './segment-record.ts'

/** The database of aggregated records. */
interface AboutDatabase {
  /** The ids of the database and its ancestors (ownership.ts), or {@link otherName}. */
  readonly trail: string
  /** True if the records are the dashboard's own requests. */
  readonly isOfDashboard: boolean
}

/** The sums over some records. */
export interface Totals {
  requests: number
  /** `clientErrors`: responses with status 400 to 499. `serverErrors`: responses with status 500 and above. */
  clientErrors: number
  serverErrors: number
  queryTimeMs: number
  queryTimeMaxMs: number
  readOps: number
  writeOps: number
  computeOps: number
  bytesIn: number
  bytesOut: number
}

/** The aggregate of one database, as it is stored. */
export interface DatabaseAggregate extends AboutDatabase {
  readonly minutes: Map<number, TimedTotals>
  readonly shapes: Map<string, Totals>
  /** The sums of each error, by {@link errorName}. */
  readonly errors: Map<string, Totals>
}

/** Sums with a histogram of durations. */
export interface TimedTotals extends Totals {
  /** Histogram: the number of requests in each class of durations; see {@link timeClass}. */
  readonly times: Map<number, number>
}

/** Milliseconds that one element of {@link DatabaseAggregate.minutes} covers. */
export const minuteMs = 60_000

/**
 * Maximum number of distinct shapes, and of distinct errors, of a database. Further shapes and errors are added to
 * {@link otherName}.
 */
const shapesMax = 2000
/**
 * Maximum number of sums of an aggregate: minutes, shapes and errors of all databases, which take about 60 MB. Further
 * records are added to the database {@link otherName}.
 */
const sumsMax = 150_000
/** The code of errors without a code, such as errors of schema files. */
const noCode = '–'
/** The name for all shapes, errors or databases beyond the limit. */
const otherName = '…'

/** A stored aggregate has the sums in this order. */
const zero: Readonly<Totals> = {
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  queryTimeMs: 0,
  queryTimeMaxMs: 0,
  readOps: 0,
  writeOps: 0,
  computeOps: 0,
  bytesIn: 0,
  bytesOut: 0,
}

const noTotals = (): Totals => ({ ...zero })

function addRecord(sum: Totals, record: SegmentRecord): void {
  const { queryTimeMs, status } = record
  sum.requests++
  if (status >= 500) sum.serverErrors++
  else if (status >= 400) sum.clientErrors++
  sum.queryTimeMs += queryTimeMs
  sum.queryTimeMaxMs = Math.max(sum.queryTimeMaxMs, queryTimeMs)
  sum.readOps += record.readOps
  sum.writeOps += record.writeOps
  sum.computeOps += record.computeOps
  sum.bytesIn += record.bytesIn
  sum.bytesOut += record.bytesOut
}

export function addTotals(sum: Totals, more: Totals): void {
  const queryTimeMaxMs = Math.max(sum.queryTimeMaxMs, more.queryTimeMaxMs)
  for (const name of sumNames) sum[name] += more[name]
  sum.queryTimeMaxMs = queryTimeMaxMs
}

export function noTimedTotals(): TimedTotals {
  return { ...noTotals(), times: new Map() }
}

/** Adds `more` to `sum`, including the histogram. */
export function addTimedTotals(sum: TimedTotals, more: TimedTotals): void {
  addTotals(sum, more)
  for (const [number, count] of more.times) addTime(sum.times, number, count)
}

function addTime(times: Map<number, number>, number: number, count: number): void {
  times.set(number, (times.get(number) ?? 0) + count)
}

/**
 * Below `exactMs`, each millisecond is a class. From `exactMs` on, each doubling of the duration has
 * `classesPerDoubling` classes.
 */
const exactMs = 16
const classesPerDoubling = 8

/** Returns the class of a duration. The width of a class is at most 10 % of the durations in the class. */
export function timeClass(ms: number): number {
  return ms < exactMs ? ms : exactMs + Math.floor(Math.log2(ms / exactMs) * classesPerDoubling)
}

/** Returns the shortest duration of the class, in milliseconds. */
export function timeOfClass(number: number): number {
  return number < exactMs ? number : Math.round(exactMs * 2 ** ((number - exactMs) / classesPerDoubling))
}

/**
 * Returns a quantile in milliseconds: the fraction `share` of the requests takes at most about this time. The time is
 * rounded down to the shortest duration of its class. Returns undefined if there are no requests.
 */
export function quantile(times: ReadonlyMap<number, number>, share: number): number | undefined {
  const classes = [...times].sort(([left], [right]) => left - right)
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [number, count] of classes) {
    seen += count
    if (seen >= total * share) return timeOfClass(number)
  }
  return undefined
}

export class LogAggregate {
  readonly databases = new Map<string, DatabaseAggregate>()
  #sums = 0

  /** False if records of some databases were added to {@link otherName}. */
  get hasAllDatabases(): boolean {
    return [true, false].every(
      isOfDashboard => !this.databases.has(nameOf({ trail: otherName, isOfDashboard })),
    )
  }

  /** `trail`: the database to which the record is added. */
  add(record: SegmentRecord, trail: string = record.trail): void {
    const isFull = this.#sums >= sumsMax
    const about = { trail: isFull ? otherName : trail, isOfDashboard: isOfDashboard(record) }
    const database = this.#databaseOf(about)
    const before = sumsIn(database)
    addTo(database, record)
    this.#sums += sumsIn(database) - before
  }

  #databaseOf({ isOfDashboard, trail }: AboutDatabase): DatabaseAggregate {
    return upsert(this.databases, nameOf({ trail, isOfDashboard }), () => {
      // V8 keeps the whole line in memory as long as a part of the line is used, so the trail is copied.
      const copy = Buffer.from(trail).toString()
      return { trail: copy, isOfDashboard, minutes: new Map(), shapes: new Map(), errors: new Map() }
    })
  }
}

function sumsIn({ errors, minutes, shapes }: DatabaseAggregate): number {
  return errors.size + minutes.size + shapes.size
}

function addTo({ errors, minutes, shapes }: DatabaseAggregate, record: SegmentRecord): void {
  const { queryTimeMs, status } = record
  const totals = upsert(minutes, Math.floor(record.time / minuteMs), noTimedTotals)
  addRecord(totals, record)
  addTime(totals.times, timeClass(queryTimeMs), 1)
  addRecord(totalsNamed(shapes, record.shape), record)
  if (status >= 400) addRecord(totalsNamed(errors, errorName(record)), record)
}

function nameOf({ isOfDashboard, trail }: AboutDatabase): string {
  return `${isOfDashboard ? 'dashboard ' : ''}${trail}`
}

/** Returns the name of an error group: the status, and the code and the text if they are known. */
function errorName({ fault, status }: SegmentRecord): string {
  if (fault === undefined) return String(status)
  const { code, text } = fault
  return `${status} ${code || noCode}${text === '' ? '' : `: ${text}`}`
}

/** Returns the sums of a shape or an error. If the map is full, all further names share those of {@link otherName}. */
export function totalsNamed(all: Map<string, Totals>, name: string): Totals {
  return upsert(all, all.has(name) || all.size < shapesMax ? name : otherName, noTotals)
}

/** The version of the stored format. Aggregates of other versions are computed again. */
const formatVersion = 5

/**
 * The names of the sums in their stored order. A stored aggregate has a line for each database, so that reading and
 * writing can pause between lines. The sums are lists of numbers, because their names would be most of the text.
 */
const sumNames = Object.keys(zero) as readonly (keyof Totals)[]

interface DatabaseJson extends AboutDatabase {
  /** The number of a minute, its sums, and the class and the count of each class of its histogram. */
  readonly minutes: readonly (readonly number[])[]
  readonly shapes: readonly (readonly [string, ...number[]])[]
  readonly errors: readonly (readonly [string, ...number[]])[]
}

export function* aggregateLines({ databases }: LogAggregate): Generator<string> {
  yield `${formatVersion}\n`
  const named = ([name, totals]: readonly [string, Totals]): [string, ...number[]] => [
    name,
    ...numbersOf(totals),
  ]
  for (const { errors, minutes, shapes, ...about } of databases.values()) {
    const json: DatabaseJson = {
      ...about,
      minutes: Array.from(minutes, ([minute, totals]) => [
        minute,
        ...numbersOf(totals),
        ...[...totals.times].flat(),
      ]),
      shapes: Array.from(shapes, named),
      errors: Array.from(errors, named),
    }
    yield `${JSON.stringify(json)}\n`
  }
}

/** Returns whether the first line of a stored aggregate has the current version. */
export function isCurrentFormat(line: string): boolean {
  return line === String(formatVersion)
}

/** Adds a line of a stored aggregate to `aggregate`. Throws for a damaged line. */
export function addAggregateLine(aggregate: LogAggregate, line: string): void {
  const { errors, minutes, shapes, ...about } = JSON.parse(line) as DatabaseJson
  const named = ([name, ...numbers]: readonly [string, ...number[]]) => [name, totalsIn(numbers, 0)] as const
  aggregate.databases.set(nameOf(about), {
    ...about,
    minutes: new Map(minutes.map(timedIn)),
    shapes: new Map(shapes.map(named)),
    errors: new Map(errors.map(named)),
  })
}

function numbersOf(totals: Totals): readonly number[] {
  return sumNames.map(name => totals[name])
}

function totalsIn(numbers: readonly number[], from: number): Totals {
  const totals = noTotals()
  for (const [at, name] of sumNames.entries()) totals[name] = numbers[from + at] ?? 0
  return totals
}

function timedIn(numbers: readonly number[]): readonly [number, TimedTotals] {
  const times = new Map<number, number>()
  for (let at = 1 + sumNames.length; at < numbers.length; at += 2)
    times.set(numbers[at] as number, numbers[at + 1] as number)
  return [numbers[0] as number, { ...totalsIn(numbers, 1), times }]
}
