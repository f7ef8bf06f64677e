// The report of an import: counts, and the findings that need attention, each with file, line and id. It is plain data,
// so that an interrupted import can store it and continue the counts later.

import { locationText, type RecordLocation } from './record.ts'

/** Counts of documents, in the order of the report. */
const columns = [
  'read',
  'written',
  /** The document existed with the same content. */
  'equal',
  'kept',
  'replaced',
  'conflicting',
  'bad',
  /** The document was not written, because its `ttl` has passed. */
  'expired',
  /** The file contained no id, so the import generated one. */
  'newIds',
] as const

/** The counts of one collection. */
type Counts = Record<(typeof columns)[number], number>

function noCounts(): Counts {
  return Object.fromEntries(columns.map(column => [column, 0])) as Counts
}

/** A finding about one record. */
export interface Finding extends RecordLocation {
  readonly collection: string
  readonly id: string | undefined
  readonly reason: string
}

/** A finding that occurs several times. */
interface Tally {
  count: number
  /** Locations of the first findings. */
  readonly places: string[]
}

export interface SchemaFinding {
  readonly database: string
  readonly kind: string
  readonly name: string
  /** `incomplete`: the export lacks parts of the object, which `reason` names. */
  readonly outcome: 'created' | 'equal' | 'different' | 'failed' | 'incomplete'
  readonly reason?: string
}

/** Maximum number of findings of one kind that are stored individually. Further ones are only counted. */
const listedMax = 1000
/** Maximum number of findings of one kind that the text shows. */
const shownMax = 100
const placesMax = 5

/** Content of the report in JSON. */
export interface ReportData {
  collections: Record<string, Counts>
  bad: Finding[]
  conflicts: Finding[]
  /** References to missing documents, by `FROM → TO` with the names of two collections. */
  dangling: Record<string, Tally>
  lost: Record<string, Tally>
  lookalikes: Record<string, number>
  schema: SchemaFinding[]
  incomplete: string[]
  passedOver: string[]
}

export class Report {
  readonly data: ReportData
  readonly #isDryRun: boolean

  constructor(isDryRun: boolean, data?: ReportData) {
    this.#isDryRun = isDryRun
    this.data = data ?? {
      collections: {},
      bad: [],
      conflicts: [],
      dangling: {},
      lost: {},
      lookalikes: {},
      schema: [],
      incomplete: [],
      passedOver: [],
    }
  }

  counts(collection: string): Counts {
    this.data.collections[collection] ??= noCounts()
    return this.data.collections[collection]
  }

  bad(finding: Finding): void {
    this.counts(finding.collection).bad++
    if (this.data.bad.length < listedMax) this.data.bad.push(finding)
  }

  conflict(finding: Finding): void {
    this.counts(finding.collection).conflicting++
    if (this.data.conflicts.length < listedMax) this.data.conflicts.push(finding)
  }

  lost(what: string, collection: string, origin: RecordLocation): void {
    tally(this.data.lost, `${what} (${collection})`, locationText(origin))
  }

  dangling(from: string, to: string, place: string): void {
    tally(this.data.dangling, `${from} → ${to}`, place)
  }

  lookalike(collection: string, path: string, type: string): void {
    const name = `${collection}.${path}::${type}`
    this.data.lookalikes[name] = (this.data.lookalikes[name] ?? 0) + 1
  }

  /** Returns the sum over all collections. */
  total(): Counts {
    const total = noCounts()
    for (const counts of Object.values(this.data.collections))
      for (const column of columns) total[column] += counts[column]
    return total
  }

  /** Returns a text for people: a table of collections, then the findings. */
  text(): string {
    const { data } = this
    const sections = [
      countsTable(data.collections, this.total(), this.#isDryRun),
      ...schemaLines(data.schema),
      ...list('Incomplete', data.incomplete),
      ...list('Bad', data.bad.map(findingText), this.total().bad),
      ...list('Conflicts', data.conflicts.map(findingText), this.total().conflicting),
      ...list('References to documents that do not exist', tallyTexts(data.dangling)),
      ...list('Lost', tallyTexts(data.lost)),
      ...list(
        'Texts that look like another type and were imported as texts (use --type to convert them)',
        Object.entries(data.lookalikes).map(([name, count]) => `${name}  ${count} times`),
      ),
      ...list('Skipped', data.passedOver),
    ]
    return `${sections.join('\n')}\n`
  }

  /** Returns the report for programs. */
  json(): string {
    const { data } = this
    return `${JSON.stringify({ dryRun: this.#isDryRun, total: this.total(), ...data }, null, 2)}\n`
  }
}

function tally(tallies: Record<string, Tally>, name: string, place: string): void {
  tallies[name] ??= { count: 0, places: [] }
  const found = tallies[name]
  found.count++
  if (found.places.length < placesMax) found.places.push(place)
}

const titles: Partial<Record<(typeof columns)[number], string>> = { newIds: 'new ids' }
/** Counts that the report shows even when all are 0. */
const always: ReadonlySet<string> = new Set(['read', 'written', 'equal', 'bad'])

function countsTable(
  collections: Readonly<Record<string, Counts>>,
  total: Counts,
  isDryRun: boolean,
): string {
  const shown = columns.filter(column => always.has(column) || total[column] > 0)
  const titleOf = (column: (typeof columns)[number]) =>
    column === 'written' && isDryRun ? 'to write' : (titles[column] ?? column)
  const rows = [
    ['collection', ...shown.map(titleOf)],
    ...Object.entries(collections).map(([name, counts]) => [
      name,
      ...shown.map(column => String(counts[column])),
    ]),
    ['all', ...shown.map(column => String(total[column]))],
  ]
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map(row => (row[at] as string).length))) ?? []
  return rows
    .map(row =>
      row.map((cell, at) =>
        at === 0 ? cell.padEnd(widths[at] as number) : cell.padStart(widths[at] as number),
      ),
    )
    .map(row => row.join('  '))
    .join('\n')
}

function schemaLines(schema: readonly SchemaFinding[]): string[] {
  const created = Map.groupBy(
    schema.filter(({ outcome }) => outcome === 'created'),
    ({ kind }) => kind,
  )
  // The names of created databases are shown, so that the user notices a mistyped name.
  const summary = [...created].map(([kind, objects]) =>
    kind === 'database'
      ? objects.map(({ name }) => `database ${name}`).join(', ')
      : `${kind}: ${objects.length}`,
  )
  const textOf = ({ database, kind, name, outcome, reason }: SchemaFinding) => {
    const place = database === '' ? '' : ` in ${database}`
    return `${kind} ${name}${place}: ${outcome === 'different' ? 'exists with a different definition' : reason}`
  }
  const odd = schema.filter(({ outcome }) => outcome === 'different' || outcome === 'failed')
  const incomplete = schema.filter(({ outcome }) => outcome === 'incomplete')
  return [
    ...list('Schema objects created', summary),
    ...list('Schema objects left as they are', odd.map(textOf)),
    ...list('Incomplete schema objects', incomplete.map(textOf)),
  ]
}

function list(title: string, lines: readonly string[], count = lines.length): string[] {
  if (count === 0) return []
  const shown = lines.slice(0, shownMax)
  const more = count > shown.length ? [`  and ${count - shown.length} more`] : []
  return ['', `${title}:`, ...shown.map(line => `  ${line}`), ...more]
}

/** `FILE:LINE users 101: reason`. */
export function findingText(finding: Finding): string {
  const { collection, id, reason } = finding
  return `${locationText(finding)} ${collection}${id === undefined ? '' : ` ${id}`}: ${reason}`
}

function tallyTexts(tallies: Readonly<Record<string, Tally>>): string[] {
  return Object.entries(tallies).map(([name, { count, places }]) => {
    const more = count > places.length ? ' …' : ''
    return `${name}: ${count} (${places.join(', ')}${more})`
  })
}
