// What an import tells at its end: counts, and everything that a person has to look at, each with file, line and id.
// It is plain data, so that an interrupted import can go on counting.

import { placeText, type RecordPlace } from './record.ts'

/** What became of documents, in the order of the report. */
const columns = [
  'read',
  'written',
  /** Were there already with the same content. */
  'equal',
  'kept',
  'replaced',
  'conflicting',
  'bad',
  /** Past their `ttl`, so not written. */
  'expired',
  /** Had no id in the file and got one. */
  'newIds',
] as const

/** How many documents of one collection became what. */
type Counts = Record<(typeof columns)[number], number>

function noCounts(): Counts {
  return Object.fromEntries(columns.map(column => [column, 0])) as Counts
}

/** Something about one record. */
export interface Finding extends RecordPlace {
  readonly collection: string
  readonly id: string | undefined
  readonly reason: string
}

/** Something that was found several times. */
interface Tally {
  count: number
  /** The first places, `FILE:LINE`. */
  readonly places: string[]
}

/** What became of a schema object. */
export interface SchemaFinding {
  readonly database: string
  readonly kind: string
  readonly name: string
  readonly outcome: 'created' | 'equal' | 'different' | 'failed'
  readonly reason?: string
}

/** Findings of a kind that are listed one by one; further ones are counted. */
const listedMax = 1000
/** Those of them that people see. */
const shownMax = 100
const placesMax = 5

/** What a report holds, as JSON. */
export interface ReportData {
  collections: Record<string, Counts>
  bad: Finding[]
  conflicts: Finding[]
  /** References to documents that are not there, by `from → to`. */
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

  lost(what: string, collection: string, origin: RecordPlace): void {
    tally(this.data.lost, `${what} (${collection})`, placeText(origin))
  }

  dangling(from: string, to: string, place: string): void {
    tally(this.data.dangling, `${from} → ${to}`, place)
  }

  lookalike(collection: string, path: string, type: string): void {
    const name = `${collection}.${path}::${type}`
    this.data.lookalikes[name] = (this.data.lookalikes[name] ?? 0) + 1
  }

  /** All collections together. */
  total(): Counts {
    const total = noCounts()
    for (const counts of Object.values(this.data.collections))
      for (const column of columns) total[column] += counts[column]
    return total
  }

  /** For people: a table of collections, then what needs a look. */
  text(): string {
    const { data } = this
    const sections = [
      countsTable(data.collections, this.total(), this.#isDryRun),
      ...schemaLines(data.schema),
      ...list('Incomplete', data.incomplete),
      ...list('Bad', data.bad.map(findingText), this.total().bad),
      ...list('Conflicts', data.conflicts.map(findingText), this.total().conflicting),
      ...list('References to documents that are not there', tallyTexts(data.dangling)),
      ...list('Lost', tallyTexts(data.lost)),
      ...list(
        'Texts that look like another type and stayed texts; to change that: --type',
        Object.entries(data.lookalikes).map(([name, count]) => `${name}  ${count} times`),
      ),
      ...list('Passed over', data.passedOver),
    ]
    return `${sections.join('\n')}\n`
  }

  /** For programs. */
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
/** Shown even when they are all 0. */
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
  // A database that was made by mistake has a name that was mistyped.
  const summary = [...created].map(([kind, objects]) =>
    kind === 'database'
      ? objects.map(({ name }) => `database ${name}`).join(', ')
      : `${kind}: ${objects.length}`,
  )
  const odd = schema.filter(({ outcome }) => outcome === 'different' || outcome === 'failed')
  return [
    ...list('Schema objects created', summary),
    ...list(
      'Schema objects left as they are',
      odd.map(({ database, kind, name, outcome, reason }) => {
        const place = database === '' ? '' : ` in ${database}`
        return `${kind} ${name}${place}: ${outcome === 'different' ? 'is there with another definition' : reason}`
      }),
    ),
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
  return `${placeText(finding)} ${collection}${id === undefined ? '' : ` ${id}`}: ${reason}`
}

function tallyTexts(tallies: Readonly<Record<string, Tally>>): string[] {
  return Object.entries(tallies).map(([name, { count, places }]) => {
    const more = count > places.length ? ' …' : ''
    return `${name}: ${count} (${places.join(', ')}${more})`
  })
}
