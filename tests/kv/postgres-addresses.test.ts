// Addresses in the format of libpq, with real servers: passwords, sockets, several servers, and TLS.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { cert, key } from '../http/certificate.ts'
import { freePort, noPostgres, PostgresServer } from '../support/postgres.ts'

const password = 'p#w?d&/@:% é'

describe('the address of a store', { skip: noPostgres }, () => {
  let primary: PostgresServer
  let standby: PostgresServer

  before(async () => {
    primary = await PostgresServer.start()
    const hba = join(primary.data, 'pg_hba.conf')
    const rules = [
      'host all guarded 127.0.0.1/32 scram-sha-256',
      'hostssl all encrypted 127.0.0.1/32 trust',
      'hostnossl all plain 127.0.0.1/32 trust',
      'host all encrypted,plain 127.0.0.1/32 reject',
    ]
    writeFileSync(hba, `${rules.join('\n')}\n${readFileSync(hba, 'utf8')}`)
    await primary.query(
      `CREATE ROLE guarded LOGIN PASSWORD '${password}'`,
      'CREATE ROLE encrypted LOGIN',
      'CREATE ROLE plain LOGIN',
    )
    standby = await primary.standby()
    await primary.kill()
    await primary.runWithTls(cert, key)
  })
  after(async () => {
    await standby.stop()
    await primary.stop()
  })

  /** Returns the port of the server that an address leads to, and whether the session uses TLS. */
  async function reach(url: string): Promise<{ readonly port: unknown; readonly ssl: unknown }> {
    return PostgresSession.use({ url, schema: 'tests' }, 'tests', async session => {
      const [row] = await session.query(
        "SELECT current_setting('port')::int AS port, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
      )
      return { port: row?.port, ssl: row?.ssl }
    })
  }

  test('a password may contain any character, percent-encoded if necessary', async () => {
    const { port } = primary
    for (const written of [
      encodeURIComponent(password),
      password.replaceAll('%', '%25').replace('@', '%40').replace('/', '%2F'),
    ])
      assert.equal((await reach(`postgres://guarded:${written}@127.0.0.1:${port}/postgres`)).port, port)
    const wrong = `postgres://guarded:SECRET@127.0.0.1:${port}/postgres`
    await assert.rejects(reach(wrong), error => {
      assert.ok(error instanceof StoreUnavailableError)
      assert.match(error.message, /password authentication failed for user "guarded"$/)
      assert.doesNotMatch(error.stack as string, /SECRET/)
      return true
    })
  })

  test('a Unix socket is used without TLS', async () => {
    const { folder, port } = primary
    const expected = { port, ssl: false }
    assert.deepEqual(await reach(`postgres://tests@/postgres?host=${folder}&port=${port}`), expected)
    assert.deepEqual(await reach(`postgres://tests@${encodeURIComponent(folder)}:${port}/postgres`), expected)
  })

  test('the first of several servers that accepts writes is used', async () => {
    const { port } = primary
    const others = `127.0.0.1:${await freePort()},127.0.0.1:${standby.port}`
    for (const attributes of ['', '?target_session_attrs=read-write', '?target_session_attrs=primary'])
      assert.equal(
        (await reach(`postgres://tests@${others},127.0.0.1:${port}/postgres${attributes}`)).port,
        port,
      )
    await assert.rejects(
      reach(`postgres://tests@${others}/postgres`),
      /cannot be reached: 127\.0\.0\.1:\d+: connect ECONNREFUSED .*; 127\.0\.0\.1:\d+: it is a read-only standby/,
    )
  })

  test('sslmode has the same meaning as in libpq', async () => {
    const at = (server: PostgresServer, options: string, user = 'tests') =>
      reach(`postgres://${user}@127.0.0.1:${server.port}/postgres?${options}`)
    const hasTls = async (options: string, user?: string) => (await at(primary, options, user)).ssl
    const root = `sslrootcert=${primary.certificateFile}`
    const expected = {
      '': true,
      'sslmode=disable': false,
      'sslmode=allow': false,
      'sslmode=prefer': true,
      'sslmode=require': true,
      'sslmode=no-verify': true,
      [`sslmode=require&${root}`]: true,
      [`sslmode=verify-ca&${root}`]: true,
      [`sslmode=verify-full&${root}`]: true,
    }
    for (const [options, ssl] of Object.entries(expected)) assert.equal(await hasTls(options), ssl, options)
    assert.equal(await hasTls('sslmode=allow', 'encrypted'), true)
    assert.equal(await hasTls('sslmode=prefer', 'plain'), false)
    await assert.rejects(hasTls('sslmode=disable', 'encrypted'), /pg_hba\.conf rejects connection/)
    // Self-signed, so the system does not trust it.
    await assert.rejects(hasTls('sslmode=verify-full'), {
      name: StoreUnavailableError.name,
      message: /self-signed certificate/,
    })
    await primary.kill()
    await primary.run()
    assert.equal(await hasTls('sslmode=prefer'), false)
    await assert.rejects(hasTls('sslmode=require'), /does not support SSL/)
    await assert.rejects(
      hasTls('sslmode=verify-full&sslrootcert=/nowhere/root.crt'),
      /the file \/nowhere\/root\.crt \(sslrootcert\) cannot be read: ENOENT/,
    )
  })
})
