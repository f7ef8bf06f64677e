// Errors of a node that cannot start over its database, each in one line and at once, and the privileges that a node
// needs.

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { freePort, noPostgres } from '../support/postgres.ts'
import { isInstalled, type ProgramResult, runProgram } from '../support/program.ts'
import { postgresOfFile } from '../support/record.ts'
import { Cluster } from './cluster.ts'

const noPgbouncer = isInstalled('pgbouncer', '--version') ? undefined : 'pgbouncer is not installed'

/** Runs a node that is expected to exit by itself. */
async function start(store: string, ...flags: string[]): Promise<ProgramResult> {
  const data = await mkdtemp(join(folder, 'data-'))
  const words = ['serve', '--port', '0', '--data', data, '--log-level', 'error', ...flags]
  return runProgram(words, { TERRARIUM_STORE: store })
}

let cluster: Cluster
const postgres = postgresOfFile()
const folder = folderOfFile()

before(async () => {
  if (noPostgres) return
  cluster = new Cluster(postgres)
  await postgres.query(
    'CREATE ROLE stranger LOGIN',
    'CREATE ROLE one LOGIN CONNECTION LIMIT 1',
    'CREATE ROLE three LOGIN CONNECTION LIMIT 3',
    'CREATE ROLE reader LOGIN',
    'ALTER ROLE reader SET default_transaction_read_only = on',
    'GRANT CREATE ON DATABASE postgres TO one, three, reader',
    'CREATE ROLE owner LOGIN',
    'CREATE SCHEMA owned AUTHORIZATION owner',
    'CREATE ROLE worker LOGIN CONNECTION LIMIT 6',
  )
})

after(() => cluster?.[Symbol.asyncDispose]())

const urlOf = (user: string) => postgres.url().replace('tests@', `${user}@`)

/** Asserts that the node exited with status 1 and the reason in one line. */
function assertFailed({ status, stderr }: ProgramResult, reason: RegExp): void {
  assert.equal(status, 1, stderr)
  assert.match(stderr, /^terrarium: .*\n$/)
  assert.match(stderr, reason)
}

describe('a database over which no node starts', { skip: noPostgres }, () => {
  test('a database that rejects commits', async () => {
    await cluster.stop(await cluster.start())
    const holder = new Client({ connectionString: postgres.url() })
    await holder.connect()
    try {
      await holder.query(`BEGIN; SELECT id FROM ${cluster.schema}.head FOR UPDATE`)
      const flags = ['--store-schema', cluster.schema, '--store-write-wait-ms', '300']
      assertFailed(await start(postgres.url(), ...flags), /the database of the store does not accept commits/)
    } finally {
      await holder.end()
    }
  })

  const rejected: Readonly<Record<string, readonly [store: () => string, reason: RegExp]>> = {
    'a role without rights': [
      () => urlOf('stranger'),
      /permission denied for database postgres: grant CREATE on the database, or create the schema "terrarium"/,
    ],
    'one connection': [() => urlOf('one'), /needs 6 connections .*too many connections for role "one"/],
    'three connections': [() => urlOf('three'), /needs 6 connections .*too many connections for role/],
    'a role that only reads': [() => urlOf('reader'), /default_transaction_read_only/],
    'a missing certificate': [
      () => `${urlOf('tests')}?sslmode=verify-full&sslrootcert=/nowhere/root.crt`,
      /the file \/nowhere\/root\.crt \(sslrootcert\) cannot be read: ENOENT/,
    ],
    'nobody there': [
      () => 'postgres://tests@127.0.0.1:1/postgres',
      /cannot be reached: connect ECONNREFUSED/,
    ],
  }
  for (const [name, [store, reason]] of Object.entries(rejected))
    test(`${name}: one line`, async () => assertFailed(await start(store()), reason))

  test('an invalid address: one line, without its text', async () => {
    const { status, stderr } = await start('postgres://ann:SEC@RET@db/app')
    assert.equal(status, 2, stderr)
    assert.match(stderr, /^terrarium: TERRARIUM_STORE must have one @ at most.*\n$/)
    assert.doesNotMatch(stderr, /SEC|RET/)
  })

  test('a standby: one line', async () => {
    await using standby = await postgres.standby()
    const failed = await start(standby.url())
    await postgres.query("ALTER SYSTEM SET synchronous_standby_names = ''", 'SELECT pg_reload_conf()')
    assertFailed(failed, /it is a read-only standby/)
  })
})

describe('rights with which a node starts', { skip: noPostgres }, () => {
  test('a role that owns the schema can create the tables, without privileges on the database', async () => {
    const node = await cluster.start({
      flags: ['--store-schema', 'owned'],
      env: { TERRARIUM_STORE: urlOf('owner') },
    })
    await cluster.stop(node)
    const [row] = await postgres.query('SELECT count(*)::int AS count FROM owned.meta')
    assert.equal(row?.count, 1)
  })

  test('the documented privileges are sufficient, even for background work', async () => {
    const first = await cluster.start()
    await cluster.prepare(first)
    await cluster.stop(first)
    await postgres.query(
      `GRANT USAGE ON SCHEMA ${cluster.schema} TO worker`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${cluster.schema} TO worker`,
    )
    const node = await cluster.start({ env: { TERRARIUM_STORE: urlOf('worker') } })
    assert.equal(await cluster.write(node), 'acknowledged')
    const [head] = await postgres.query(`SELECT max(seq)::int AS seq FROM ${cluster.schema}.log`)
    await eventually('the state is written forward', async () => {
      const [row] = await postgres.query(`SELECT seq::int FROM ${cluster.schema}.checkpoint`)
      return Number(row?.seq) >= Number(head?.seq)
    })
    assert.doesNotMatch(node.stderr(), /permission denied/)
    await cluster.stop(node)
  })
})

describe('starting through a pooler', { skip: noPostgres ?? noPgbouncer }, () => {
  let pooler: ChildProcess
  let port: number

  before(async () => {
    port = await freePort()
    const file = join(folder, 'pgbouncer.ini')
    const at = `host=127.0.0.1 port=${postgres.port} dbname=postgres user=tests`
    writeFileSync(
      file,
      `[databases]
transactions = ${at} pool_mode=transaction
sessions = ${at} pool_mode=session
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
`,
    )
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    execFileSync('chmod', ['-R', 'a+rX', folder])
    pooler = spawn('pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...user })
    let log = ''
    pooler.stderr?.on('data', text => {
      log += text
    })
    await eventually(`the pooler listens: ${log}`, () => log.includes(`listening on 127.0.0.1:${port}`))
  })
  after(async () => {
    const ended = once(pooler, 'close')
    pooler.kill('SIGKILL')
    await ended
  })

  test('a pooler in transaction mode is rejected in one line', async () => {
    const store = `postgres://tests@127.0.0.1:${port}/transactions`
    assertFailed(await start(store), /a connection pooler in transaction mode: set its pool_mode/)
  })

  test('a pooler in session mode is accepted', async () => {
    const node = await cluster.start({
      env: { TERRARIUM_STORE: `postgres://tests@127.0.0.1:${port}/sessions` },
    })
    assert.equal(await cluster.write(node), 'acknowledged')
    await cluster.stop(node)
  })
})
