// Creates and checks the tables of a store in PostgreSQL (the "record"). The SQL uses only features that PostgreSQL,
// CockroachDB and YugabyteDB share.

import type { Random } from '../../base/random.ts'
import { causeText, StoreUnavailableError } from '../kv/store-errors.ts'
import { sqlStateOf } from './failures.ts'
import type { PostgresSession } from './postgres-session.ts'

/** The version of the tables below and of their content. */
export const recordVersion = 2
/** A value in place of a version while data is being moved into the tables, so that no node uses them. */
export const unfilledVersion = 0

/** SQLSTATEs of a statement that failed because another node creates the tables at the same time. */
const raceStates = new Set(['23505', '42P06', '42P07', '42710', '40001', 'XX000'])
const attemptsMax = 10
/** SQLSTATE of a missing privilege. */
const forbiddenState = '42501'
/** SQLSTATEs of a schema or table that does not exist. */
const missingStates = new Set(['3F000', '42P01'])

/**
 * Creates missing tables, which several nodes may do at the same time. Checks the version, and resolves with the id of
 * the store ({@link readStoreId}).
 */
export async function openTables(session: PostgresSession, random: Random): Promise<string> {
  await createTables(session, random, recordVersion)
  return readStoreId(session)
}

export async function createTables(session: PostgresSession, random: Random, version: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await tryCreateTables(session, random, version)
      return
    } catch (error) {
      const state = sqlStateOf(error)
      if (state === forbiddenState)
        throw new StoreUnavailableError(
          `the tables of the store cannot be created: ${causeText(error)}: grant CREATE on the database, or create the schema ${session.schemaName} with the role as its owner`,
          { cause: error },
        )
      if (attempt === attemptsMax || state === undefined || !raceStates.has(state)) throw error
    }
  }
}

/**
 * The random id of the store in these tables. Throws {@link StoreUnavailableError} when the tables are missing or have
 * another version.
 */
export async function readStoreId(session: PostgresSession): Promise<string> {
  const version = await readVersion(session)
  if (version === undefined)
    throw new StoreUnavailableError(`the schema ${session.schemaName} of the database contains no store`)
  if (version === unfilledVersion)
    throw new StoreUnavailableError(
      `data is being moved into the schema ${session.schemaName}: complete this with "terrarium migrate"`,
    )
  assertSupportedVersion(session, version)
  const [row] = await session.query(`SELECT store_id FROM ${session.table('meta')} WHERE id = 1`)
  return String(row?.store_id)
}

/** Throws {@link StoreUnavailableError} if this program does not support tables of the version `version`. */
export function assertSupportedVersion(session: PostgresSession, version: number): void {
  if (version === recordVersion) return
  throw new StoreUnavailableError(
    `the tables in schema ${session.schemaName} have version ${version}; this program knows version ${recordVersion}`,
  )
}

/** Returns undefined when the tables are missing. */
export async function readVersion(session: PostgresSession): Promise<number | undefined> {
  try {
    const [row] = await session.query(`SELECT version FROM ${session.table('meta')} WHERE id = 1`)
    return row === undefined ? undefined : Number(row.version)
  } catch (error) {
    if (missingStates.has(sqlStateOf(error) ?? '')) return undefined
    throw error
  }
}

async function tryCreateTables(session: PostgresSession, random: Random, version: number): Promise<void> {
  const table = (name: string) => session.table(name)
  if ((await readVersion(session)) !== undefined) return
  // `CREATE SCHEMA IF NOT EXISTS` needs a privilege on the database even if the schema exists.
  const [schema] = await session.query('SELECT to_regnamespace($1) IS NOT NULL AS exists', [
    session.schemaName,
  ])
  const statements = [
    ...(schema?.exists === true ? [] : [`CREATE SCHEMA IF NOT EXISTS ${session.schemaName}`]),
    // Each committed batch has a row. `seq` numbers the batches in the order of their commits, without gaps. The newest
    // row is the head. A commit only inserts a row: updates would create old row versions, which accumulate during a
    // long read. `closed`: a time in microseconds; all commits of later batches have later times.
    `CREATE TABLE IF NOT EXISTS ${table('log')} (
       seq bigint PRIMARY KEY, batch text NOT NULL, node text NOT NULL,
       at timestamptz NOT NULL DEFAULT now(),
       closed bigint NOT NULL, body bytea NOT NULL)`,
    // The table has a single row, which never changes. Only the transaction that holds the lock of this row may append
    // to the log.
    `CREATE TABLE IF NOT EXISTS ${table('head')} (id int PRIMARY KEY)`,
    // The state rows: all keys and values as of the batch whose number is in the table `checkpoint`.
    `CREATE TABLE IF NOT EXISTS ${table('kv')} (key bytea PRIMARY KEY, value bytea NOT NULL)`,
    `CREATE TABLE IF NOT EXISTS ${table('checkpoint')} (id int PRIMARY KEY, seq bigint NOT NULL)`,
    // The leases on work that only one node does at a time, with their holders.
    `CREATE TABLE IF NOT EXISTS ${table('lease')} (name text PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL)`,
    // The nodes that are or were recently alive, and the first batch that each node still needs.
    `CREATE TABLE IF NOT EXISTS ${table('node')} (
       name text PRIMARY KEY, needs bigint NOT NULL, seen timestamptz NOT NULL)`,
    // Notices between processes.
    `CREATE TABLE IF NOT EXISTS ${table('notice')} (
       node text NOT NULL, number bigint NOT NULL, at timestamptz NOT NULL DEFAULT now(), body text NOT NULL,
       PRIMARY KEY (node, number))`,
    // Files that every node can read, in parts.
    `CREATE TABLE IF NOT EXISTS ${table('file')} (
       name text NOT NULL, part int NOT NULL, at timestamptz NOT NULL DEFAULT now(), body bytea NOT NULL,
       PRIMARY KEY (name, part))`,
    // The query logs of all nodes in chunks, and the time up to which each node has uploaded its own query log.
    `CREATE TABLE IF NOT EXISTS ${table('log_chunk')} (
       writer text NOT NULL, start bigint NOT NULL, place bigint NOT NULL, bytes bigint NOT NULL,
       until bigint NOT NULL, body bytea, PRIMARY KEY (writer, start, place))`,
    `CREATE TABLE IF NOT EXISTS ${table('log_node')} (
       node text PRIMARY KEY, until bigint NOT NULL, seen timestamptz NOT NULL)`,
    // This table is created last: its row shows that all tables exist.
    `CREATE TABLE IF NOT EXISTS ${table('meta')} (
       id int PRIMARY KEY, version int NOT NULL, store_id text NOT NULL, root_hash text)`,
    `INSERT INTO ${table('head')} VALUES (1) ON CONFLICT DO NOTHING`,
    // Batch 0 is empty, and represents the state before the first commit.
    `INSERT INTO ${table('log')} (seq, batch, node, closed, body) VALUES (0, '', '', 0, '') ON CONFLICT DO NOTHING`,
    `INSERT INTO ${table('checkpoint')} VALUES (1, 0) ON CONFLICT DO NOTHING`,
  ]
  for (const statement of statements) await session.query(statement)
  await session.query(
    `INSERT INTO ${table('meta')} (id, version, store_id) VALUES (1, $1, $2) ON CONFLICT DO NOTHING`,
    [version, random.hex(16)],
  )
}

/** Returns the hash of the root secret, which all nodes share; undefined while no hash is stored. */
export async function readRootHash(session: PostgresSession): Promise<string | undefined> {
  const [row] = await session.query(`SELECT root_hash FROM ${session.table('meta')} WHERE id = 1`)
  return typeof row?.root_hash === 'string' ? row.root_hash : undefined
}

/** Stores `hash` if no node has stored a hash yet. Resolves with the stored hash. */
export async function claimRootHash(session: PostgresSession, hash: string): Promise<string> {
  await session.query(
    `UPDATE ${session.table('meta')} SET root_hash = $1 WHERE id = 1 AND root_hash IS NULL`,
    [hash],
  )
  return (await readRootHash(session)) ?? hash
}
