// A query reads what was written, changed by the later migrations, and a query at a past time what was written until
// then: documents and indexes, in both languages.

import assert from 'node:assert/strict'
import { fc } from '../support/fast-check.ts'
import { serverOfFile } from '../support/server.ts'
import {
  type Fields,
  fieldsAfter,
  indexOf,
  type Migration,
  migrationLists,
  migrationsMax,
  type Row,
  type Scalar,
  schemaAfter,
  valuesOf,
} from './generators/migrations10.ts'
import { type LawDatabase, law } from './law.ts'

const server = serverOfFile()

/** A document in the format `simple`. */
type Document = Readonly<Record<string, unknown>>

/** A write of a document. `choice` selects the field of an update, and all values. */
interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly id: number
  readonly choice: number
}

const writes: fc.Arbitrary<readonly Write[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('update', 'create', 'delete'),
    id: fc.integer({ min: 1, max: 3 }),
    choice: fc.nat(99),
  }),
  { maxLength: 3 },
)

/** The fields that a write sets, by path. */
function fieldsOf({ choice, kind }: Write, fields: Fields): Readonly<Record<string, Scalar | null>> {
  const entries = Object.entries(fields)
  const chosen = kind === 'create' ? entries : [entries[choice % entries.length] as [string, string]]
  return Object.fromEntries(
    chosen.map(([path, type], at) => {
      const all = valuesOf(type)
      return [path, all[(choice + at) % all.length] as Scalar | null]
    }),
  )
}

/** A statement for a write that is valid after some migrations. */
function statementOf(write: Write, fields: Fields): string {
  const { id, kind } = write
  const row = `Row.byId("${id}")`
  const data = nested(fieldsOf(write, fields))
  if (kind === 'delete') return `${row}?.delete()`
  if (kind === 'update') return `${row}?.update(${JSON.stringify(data)})`
  return `if (!${row}.exists()) Row.create(${JSON.stringify({ id: String(id), ...data })})`
}

/** The documents after a write. */
function rowsAfter(rows: Rows, write: Write, fields: Fields): Rows {
  const { [write.id]: row, ...others } = rows
  if (write.kind === 'delete') return others
  if ((row === undefined) !== (write.kind === 'create')) return rows
  const all = Object.entries({ ...row, ...fieldsOf(write, fields) })
  const present = all.filter((entry): entry is [string, Scalar] => entry[1] !== null)
  return { ...others, [write.id]: Object.fromEntries(present) }
}

function nested(row: Readonly<Record<string, Scalar | null>>): Document {
  const data: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(row)) {
    if (path.startsWith('o.')) data.o = { ...(data.o as object), [path.slice(2)]: value }
    else data[path] = value
  }
  return data
}

const flat = ({ o, ...others }: Document): Row => ({
  ...(others as Row),
  ...Object.fromEntries(Object.entries(o as object).map(([name, value]) => [`o.${name}`, value])),
})

/** The documents by their ids. */
type Rows = Readonly<Record<string, Row>>

async function read(database: LawDatabase, time: number): Promise<Rows> {
  const text = `at (Time.epoch(${time}, "microseconds")) { Row.all().map(d => [d.id, d.data]).toArray() }`
  const found = (await database.run10In('simple', text)) as readonly (readonly [string, Document])[]
  return Object.fromEntries(found.map(([id, data]) => [id, flat(data)]))
}

async function read4(database: LawDatabase, time: number): Promise<Rows> {
  const pair = [
    { select: ['id'], from: { var: 'ref' } },
    { select: ['data'], from: { get: { var: 'ref' } } },
  ]
  const expr = {
    map: { lambda: 'ref', expr: pair },
    collection: { paginate: { documents: { collection: 'Row' } } },
  }
  const { data } = (await database.run4({ at: { epoch: time, unit: 'microseconds' }, expr })) as {
    readonly data: readonly (readonly [string, Document])[]
  }
  return Object.fromEntries(data.map(([id, fields]) => [id, flat(fields)]))
}

/** Inserts a version of the document 8 at a past time, with version 4. */
async function insert(database: LawDatabase, time: number, row: Row): Promise<void> {
  const object = (data: object) => ({ object: data })
  const data = nested(row)
  await database.run4({
    insert: { ref: { collection: 'Row' }, id: '8' },
    ts: time,
    action: 'create',
    params: object({ data: object({ ...data, o: object(data.o as object) }) }),
  })
}

/** The documents after some migrations. */
function migrated(rows: Rows, migrations: readonly Migration[]): Rows {
  const migrate = (row: Row) => migrations.reduce((before, each) => each.row(before), row)
  return Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, migrate(row)]))
}

law('a past time shows what was read then, changed by later migrations', () => server, {
  input: fc.record({
    migrations: migrationLists,
    /** True if a migration is pushed together with the previous one. */
    isTogether: fc.array(fc.boolean(), { minLength: migrationsMax, maxLength: migrationsMax }),
    /** The writes before each migration, and after the last one. */
    writes: fc.array(writes, { minLength: migrationsMax + 1, maxLength: migrationsMax + 1 }),
    /** The number of migrations before the insert of a document into the past. */
    insertAfter: fc.nat(migrationsMax),
  }),
  runs: 20,
  async holds(database, { insertAfter, isTogether, migrations, writes }) {
    // The migrations of a collection without documents have no effect on its history.
    await database.schema('POST', 'update', { 'main.fsl': schemaAfter([]) })
    const first: Write = { kind: 'create', id: 9, choice: 0 }
    const { time: start } = await database.ask10(statementOf(first, fieldsAfter([])))
    let inserted: { readonly row: Row; readonly done: number } | undefined
    let rows = rowsAfter({}, first, fieldsAfter([]))
    let pushed = 0
    const seen: { readonly time: number; readonly rows: Rows; readonly done: number }[] = []
    for (let done = 0; done <= migrations.length; done++) {
      // A target of a split that the same push drops takes the values of all types, so the drop gets a push of its own.
      const isDrop = migrations[done]?.statements[0] === 'drop .s'
      if (done > 0 && done < migrations.length && isTogether[done] === true && !isDrop) continue
      const before = migrations.slice(0, done)
      await database.schema('POST', 'update?force=true', { 'main.fsl': schemaAfter(before) })
      rows = migrated(rows, migrations.slice(pushed, done))
      pushed = done
      if (inserted === undefined && done >= insertAfter) {
        // The same fields as of a create.
        const { 8: row = {} } = rowsAfter({}, { kind: 'create', id: 8, choice: done }, fieldsAfter(before))
        await insert(database, start, row)
        inserted = { row, done }
        rows = { ...rows, 8: row }
      }
      for (const write of writes[done] ?? []) {
        await database.run10(statementOf(write, fieldsAfter(before)))
        rows = rowsAfter(rows, write, fieldsAfter(before))
        const { time } = await database.ask10('null')
        assert.deepEqual(await read(database, time), rows, `at ${time}, before later migrations`)
        seen.push({ time, done, rows })
      }
    }
    const fields = fieldsAfter(migrations)
    for (const { done, rows, time } of seen) {
      const later = inserted && migrated({ 8: inserted.row }, migrations.slice(inserted.done))
      const expected = { ...migrated(rows, migrations.slice(done)), ...later }
      assert.deepEqual(await read(database, time), expected, `at ${time}`)
      assert.deepEqual(await read4(database, time), expected, `at ${time} in version 4`)
      const terms = Object.entries(fields).flatMap(([path, type]) =>
        valuesOf(type).flatMap(value => (value === null ? [] : [{ path, value }])),
      )
      const sets = terms.map(({ path, value }) => `Row.${indexOf(path)}(${JSON.stringify(value)})`)
      const ids = await database.run10(
        `at (Time.epoch(${time}, "microseconds")) { [${sets.map(set => `${set}.map(.id).toArray()`)}] }`,
      )
      const holders = terms.map(({ path, value }) =>
        Object.entries(expected).flatMap(([id, row]) => (row[path] === value ? [id] : [])),
      )
      assert.deepEqual(ids, holders, `the indexes at ${time}`)
    }
  },
})
