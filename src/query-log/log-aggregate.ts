// What is added up over records of the query log: for each database and minute the requests, errors, times and costs,
// and for each shape of a query how often it came and what it took. Adding is all that is ever done with them, so the
// sums of segments can be kept and put together.

import { upsert } from '../base/upsert.ts'

/** Whose records are added up. */
interface AboutDatabase {
  /** Undefined: of records that tell names only. */
  readonly trail: string | undefined
  readonly database: readonly string[]
  /** They are of what the dashboard has asked itself. */
  readonly isOfDashboard: boolean
}

/** A record, as far as sums are concerned. */
export interface LogRecord extends AboutDatabase {
  /** Milliseconds since the Unix epoch. */
  readonly time: number
  /** With the names that are known to be in it. */
  readonly shape: string
  readonly fault: { readonly code: string; readonly text: string } | undefined
  readonly status: number
  readonly totals: Totals
}

/** Sums over some records. */
export interface Totals {
  requests: number
  /** Responses of 400 to 499, and of 500 and above. */
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

/** Sums of one database, in a form that is written to a file as it is. */
interface DatabaseAggregate extends AboutDatabase {
  readonly minutes: Map<number, TimedTotals>
  readonly shapes: Map<string, Totals>
  /** By {@link errorName}. */
  readonly errors: Map<string, Totals>
}

/** Sums with times. */
export interface TimedTotals extends Totals {
  /** Requests by class of their time, see {@link timeClass}. */
  readonly times: Map<number, number>
}

/** Milliseconds that one row of sums covers. */
export const minuteMs = 60_000

/** Shapes, and errors, of a database that are told apart; those beyond count as {@link otherShapes}. */
const shapesMax = 2000
/** Databases that are told apart. */
const databasesMax = 10_000
/** Stands for the code of errors that have none, as those of schema files. */
const noCode = '–'
/** Stands for all shapes, or databases, beyond the bound. */
const otherShapes = '…'

/** The sums over no records. */
function noTotals(): Totals {
  return {
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
}

/** Adds `more` to `sum`. */
export function addTotals(sum: Totals, more: Totals): void {
  sum.requests += more.requests
  sum.clientErrors += more.clientErrors
  sum.serverErrors += more.serverErrors
  sum.queryTimeMs += more.queryTimeMs
  sum.queryTimeMaxMs = Math.max(sum.queryTimeMaxMs, more.queryTimeMaxMs)
  sum.readOps += more.readOps
  sum.writeOps += more.writeOps
  sum.computeOps += more.computeOps
  sum.bytesIn += more.bytesIn
  sum.bytesOut += more.bytesOut
}

/** The sums with times over no records. */
export function noTimedTotals(): TimedTotals {
  return { ...noTotals(), times: new Map() }
}

/** Adds `more` to `sum`, times as well. */
export function addTimedTotals(sum: TimedTotals, more: TimedTotals): void {
  addTotals(sum, more)
  for (const [number, count] of more.times) addTime(sum.times, number, count)
}

function addTime(times: Map<number, number>, number: number, count: number): void {
  times.set(number, (times.get(number) ?? 0) + count)
}

/** Below this each millisecond is a class of its own; above it a doubling has so many classes. */
const exactMs = 16
const classesPerDoubling = 8

/** The class of a time: classes are at most a tenth wider than the times in them. */
export function timeClass(ms: number): number {
  return ms < exactMs ? ms : exactMs + Math.floor(Math.log2(ms / exactMs) * classesPerDoubling)
}

/** The shortest time of a class, in milliseconds. */
export function timeOfClass(number: number): number {
  return number < exactMs ? number : Math.round(exactMs * 2 ** ((number - exactMs) / classesPerDoubling))
}

/** The time that a share of all requests does not exceed; undefined where there were none. */
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

/** Sums over records, by database. */
export class LogAggregate {
  readonly databases = new Map<string, DatabaseAggregate>()

  add(record: LogRecord): void {
    const { errors, minutes, shapes } = this.#databaseOf(record)
    const minute = Math.floor(record.time / minuteMs)
    const totals = upsert(minutes, minute, noTimedTotals)
    addTotals(totals, record.totals)
    addTime(totals.times, timeClass(record.totals.queryTimeMs), 1)
    addTotals(shapeTotals(shapes, record.shape), record.totals)
    if (record.status >= 400) addTotals(shapeTotals(errors, errorName(record)), record.totals)
  }

  #databaseOf(of: AboutDatabase): DatabaseAggregate {
    const name = nameOf(of)
    const known = this.databases.get(name)
    if (known !== undefined) return known
    const { database, isOfDashboard, trail } = of
    if (this.databases.size >= databasesMax && database[0] !== otherShapes)
      return this.#databaseOf({ trail: undefined, database: [otherShapes], isOfDashboard })
    const made = { trail, database, isOfDashboard, minutes: new Map(), shapes: new Map(), errors: new Map() }
    this.databases.set(name, made)
    return made
  }
}

function nameOf({ database, isOfDashboard, trail }: AboutDatabase): string {
  return `${isOfDashboard ? 'dashboard ' : ''}${trail ?? database.join('/')}`
}

/** Errors that count as the same: status, and code and text where they are known. */
function errorName({ fault, status }: LogRecord): string {
  if (fault === undefined) return String(status)
  const { code, text } = fault
  return `${status} ${code || noCode}${text === '' ? '' : `: ${text}`}`
}

/** The sums of a shape among others; those of all other shapes once there are too many. */
export function shapeTotals(shapes: Map<string, Totals>, shape: string): Totals {
  return upsert(shapes, shapes.has(shape) || shapes.size < shapesMax ? shape : otherShapes, noTotals)
}

/** Says in a file which form its content has; files of other forms are made anew. */
const formatVersion = 3

/** An aggregate as text. */
export function writeAggregate(aggregate: LogAggregate): string {
  const databases = [...aggregate.databases.values()]
  return JSON.stringify({ formatVersion, databases }, (_, value) =>
    value instanceof Map ? [...value] : value,
  )
}

/** The aggregate that a text holds; undefined when it was written by another version, or is damaged. */
export function readAggregate(text: string): LogAggregate | undefined {
  try {
    const written = JSON.parse(text) as WrittenAggregate
    if (written.formatVersion !== formatVersion) return undefined
    const aggregate = new LogAggregate()
    for (const { errors, minutes, shapes, trail, ...about } of written.databases) {
      const of = { trail, ...about }
      aggregate.databases.set(nameOf(of), {
        ...of,
        minutes: new Map(
          minutes.map(([minute, totals]) => [minute, { ...totals, times: new Map(totals.times) }]),
        ),
        shapes: new Map(shapes),
        errors: new Map(errors),
      })
    }
    return aggregate
  } catch {
    return undefined
  }
}

interface WrittenAggregate {
  readonly formatVersion: number
  readonly databases: readonly {
    readonly trail?: string
    readonly database: readonly string[]
    readonly isOfDashboard: boolean
    readonly minutes: readonly [number, Totals & { readonly times: readonly [number, number][] }][]
    readonly shapes: readonly [string, Totals][]
    readonly errors: readonly [string, Totals][]
  }[]
}
