// Creates databases, collections, functions, roles, indexes, access providers and keys with queries, which validate
// them. An object that refers to a missing object is retried after the other objects. Existing objects are not changed.
//
// Some objects are created without their `data`, because it refers to documents, or because a schema file defines the
// object and cannot contain `data`. The import writes this `data` after the documents.

import { equalValues } from '../values/equality.ts'
import { type Json, nativeOfKind } from '../values/value.ts'
import { type DatabasePath, QueryError, type TransferConnection } from './connection.ts'
import { driverFields } from './formats/driver-values.ts'
import { isSupplement } from './fsl.ts'
import { literal, object } from './query-json.ts'
import { BadRecord, type CreatedKind, type SchemaRecord } from './record.ts'
import { memberOf, namedKinds, refersToDocuments } from './references.ts'
import type { SchemaFinding } from './report.ts'

const order: readonly CreatedKind[] = [...namedKinds, 'key']

function isMissingReference(error: unknown): boolean {
  return error instanceof QueryError && (error.code === 'invalid ref' || /reference/i.test(error.message))
}

/** The database in which schema objects are written. */
interface Target {
  readonly connection: Pick<TransferConnection, 'query'>
  readonly path: DatabasePath
  readonly dryRun: boolean
}

/** Creates the objects of the schema, or nothing if `dryRun` is true. */
export async function writeSchema(
  connection: Pick<TransferConnection, 'query'>,
  path: DatabasePath,
  records: readonly SchemaRecord[],
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  const target = { connection, path, dryRun }
  const sorted = [...records].sort((left, right) => order.indexOf(left.object) - order.indexOf(right.object))
  const findings: SchemaFinding[] = []
  const later: SchemaRecord[] = []
  let waiting = sorted
  for (let progress = true; progress && waiting.length > 0; ) {
    progress = false
    const failed: SchemaRecord[] = []
    for (const record of waiting) {
      try {
        findings.push(await writeObject(target, record))
        progress = true
      } catch (error) {
        if (!isMissingReference(error)) throw error
        failed.push(record)
      }
    }
    waiting = failed
    // Functions and roles may refer to each other, so the functions are created first without their roles.
    if (!progress) {
      const withRole = waiting.filter(({ object: kind, params }) => kind === 'function' && params.has('role'))
      if (withRole.length === 0) break
      later.push(...withRole)
      waiting = waiting.map(record => (withRole.includes(record) ? without('role', record) : record))
      progress = true
    }
  }
  for (const record of waiting) findings.push(await lastAttempt(target, record))
  for (const record of later) await setRole(target, record)
  return findings
}

function without(field: string, record: SchemaRecord): SchemaRecord {
  return { ...record, params: new Map([...record.params].filter(([name]) => name !== field)) }
}

/** An object whose `data` refers to documents is first created without its `data`. */
function hasLateData({ params }: SchemaRecord): boolean {
  return refersToDocuments(params.get('data'))
}

async function setRole({ connection, path }: Target, { name, params }: SchemaRecord): Promise<void> {
  const role = literal(params.get('role') as Json)
  const change = object({ update: object({ function: name }), params: object({ object: object({ role }) }) })
  await connection.query(path, change)
}

/**
 * Completes objects that were created as stubs, with only their required fields. Returns the objects whose definitions
 * were rejected.
 */
export async function completeStubs(
  connection: Pick<TransferConnection, 'query'>,
  path: DatabasePath,
  records: readonly SchemaRecord[],
): Promise<readonly SchemaFinding[]> {
  const rejected: SchemaFinding[] = []
  for (const record of records) {
    const { params } = hasLateData(record) ? without('data', record) : record
    try {
      await connection.query(path, object({ update: referenceTo(record), params: literal(params) }))
    } catch (error) {
      if (!(error instanceof QueryError)) throw error
      rejected.push(finding({ path }, record, 'failed', error.message))
    }
  }
  return rejected
}

async function lastAttempt(target: Target, record: SchemaRecord): Promise<SchemaFinding> {
  try {
    return await writeObject(target, record)
  } catch (error) {
    if (error instanceof QueryError) return finding(target, record, 'failed', error.message)
    throw error
  }
}

async function writeObject(target: Target, record: SchemaRecord): Promise<SchemaFinding> {
  const { connection, dryRun, path } = target
  const ref = referenceTo(record)
  const existing = await connection.query(
    path,
    object({ if: object({ exists: ref }), then: object({ get: ref }), else: null }),
  )
  if (existing instanceof Map && isOfKind(existing, record.object))
    return finding(target, record, isSame(record, existing) ? 'equal' : 'different')
  if (dryRun) return finding(target, record, 'created')
  try {
    await connection.query(path, creation(hasLateData(record) ? without('data', record) : record))
    return finding(target, record, 'created')
  } catch (error) {
    if (!(error instanceof QueryError) || isMissingReference(error)) throw error
    return finding(target, record, 'failed', error.message)
  }
}

/**
 * If no user collection is named `databases`, then `Get(Collection("databases"))` reads the native collection: it
 * returns a database, not a collection.
 */
function isOfKind(existing: ReadonlyMap<string, Json>, kind: CreatedKind): boolean {
  const native = kind === 'key' ? 'keys' : nativeOfKind[kind]
  return memberOf(existing, 'ref', '@ref', 'collection', '@ref', 'id') === native
}

function referenceTo({ name, object: kind }: SchemaRecord): Json {
  if (kind !== 'key') return object({ [kind]: name })
  const keys = object({ '@ref': object({ id: 'keys' }) })
  return object({ '@ref': object({ id: name, collection: keys }) })
}

function creation(record: SchemaRecord): Json {
  const { object: kind, params } = record
  const value = literal(params)
  return kind === 'key'
    ? object({ create: referenceTo(record), params: value })
    : object({ [`create_${kind}`]: value })
}

/** Ignores fields that the record omits. */
function isSame({ params }: SchemaRecord, existing: ReadonlyMap<string, Json>): boolean {
  try {
    const [wanted, found] = [driverFields(params), driverFields(existing)]
    return [...wanted].every(([name, value]) => {
      const other = found.get(name)
      // A field that the existing object lacks has its default value: null, false or an empty array.
      if (other === undefined)
        return value === null || value === false || (Array.isArray(value) && value.length === 0)
      return equalValues(asItems(name, value), asItems(name, other))
    })
  } catch (error) {
    if (error instanceof BadRecord) return false
    throw error
  }
}

/** In definitions, a single item is equivalent to an array with one item. */
function asItems(name: string, value: Parameters<typeof equalValues>[0]): Parameters<typeof equalValues>[0] {
  const isItem = ['source', 'terms', 'values', 'privileges', 'membership', 'roles'].includes(name)
  return isItem && !Array.isArray(value) ? [value] : value
}

function finding(
  { path }: Pick<Target, 'path'>,
  record: SchemaRecord,
  outcome: SchemaFinding['outcome'],
  reason?: string,
): SchemaFinding {
  return {
    database: path.join('/'),
    kind: kindOf(record),
    name: record.name,
    outcome,
    ...(reason !== undefined && { reason }),
  }
}

export function namedRecord(object: 'database' | 'collection', name: string): SchemaRecord {
  return { kind: 'schema', object, name, params: new Map([['name', name]]) }
}

/** Also creates missing ancestors. Returns whether anything was created, or would be created without `dryRun`. */
export async function ensureDatabase(
  connection: Pick<TransferConnection, 'query'>,
  path: DatabasePath,
  dryRun: boolean,
): Promise<boolean> {
  let created = false
  for (const [at, name] of path.entries()) {
    const record = namedRecord('database', name)
    const { outcome, reason } = await writeObject({ connection, path: path.slice(0, at), dryRun }, record)
    if (outcome === 'failed') throw new QueryError('validation failed', `database ${name}: ${reason}`)
    if (outcome !== 'created') continue
    if (dryRun) return true
    created = true
  }
  return created
}

interface PendingRecord {
  readonly path: DatabasePath
  readonly record: SchemaRecord
}

/**
 * True if the `data` of a record is written at the end of the import. If an object already has `data` by then, because
 * no schema file defines the object, its `data` does not change.
 */
const isLate = (record: SchemaRecord) =>
  hasLateData(record) || (record.params.has('data') && isSupplement(record.params))

const kindOf = ({ object: kind }: SchemaRecord) => kind.replace('_', ' ')

/** Collects the `data` that an import writes after its documents. */
export class LateData {
  readonly #waiting: PendingRecord[] = []

  /**
   * Adds each of the `records` whose object was created without its `data`, according to `findings`. `continues`: an
   * interrupted import continues, so existing objects are added, too, which the interrupted run may have created.
   */
  add(
    path: DatabasePath,
    records: readonly SchemaRecord[],
    findings: readonly SchemaFinding[],
    continues: boolean,
  ): void {
    const outcomes = new Map(findings.map(({ kind, name, outcome }) => [`${kind} ${name}`, outcome]))
    for (const record of records.filter(isLate)) {
      const outcome = outcomes.get(`${kindOf(record)} ${record.name}`)
      if (outcome === 'created' || (continues && outcome !== 'failed')) this.#waiting.push({ path, record })
    }
  }

  /** Writes the `data` of each object that has no `data` yet. Returns the objects whose `data` was rejected. */
  async write(connection: Pick<TransferConnection, 'query'>): Promise<readonly SchemaFinding[]> {
    const rejected: SchemaFinding[] = []
    for (const waiting of this.#waiting) {
      const reason = await writeData(connection, waiting)
      if (reason !== undefined)
        rejected.push(finding(waiting, waiting.record, 'failed', `it has no data: ${reason}`))
    }
    return rejected
  }
}

/** Resolves with the reason if the database rejects the `data`. */
async function writeData(
  connection: Pick<TransferConnection, 'query'>,
  { path, record }: PendingRecord,
): Promise<string | undefined> {
  const ref = referenceTo(record)
  const hasData = object({ contains: 'data', in: object({ get: ref }) })
  const data = object({ object: object({ data: literal(record.params.get('data') as Json) }) })
  const change = object({ update: ref, params: data })
  try {
    await connection.query(path, object({ if: hasData, then: null, else: change }))
    return undefined
  } catch (error) {
    if (error instanceof QueryError) return error.message
    throw error
  }
}
