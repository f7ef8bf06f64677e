// The kinds of TLS for a database whose address names no sslmode: the variable PGSSLMODE chooses, as in libpq.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { StoreUnavailableError } from '../../../../src/storage/kv/store-errors.ts'
import { serversOf } from '../../../../src/storage/postgres/database-servers.ts'

const { PGSSLMODE } = process.env
afterEach(() => {
  if (PGSSLMODE === undefined) delete process.env.PGSSLMODE
  else process.env.PGSSLMODE = PGSSLMODE
})

function tlsWith(mode: string, address = 'postgres://db/app'): unknown[] {
  process.env.PGSSLMODE = mode
  return serversOf(address, 'tests').flatMap(({ configs }) => configs.map(({ ssl }) => ssl))
}

test('PGSSLMODE is the default for sslmode', () => {
  assert.deepEqual(tlsWith('disable'), [false])
  assert.deepEqual(tlsWith('require'), [{ rejectUnauthorized: false }])
  assert.deepEqual(tlsWith('verify-full'), [{}])
  assert.deepEqual(tlsWith('disable', 'postgres://db/app?sslmode=require'), [{ rejectUnauthorized: false }])
  assert.deepEqual(tlsWith(''), [{ rejectUnauthorized: false }, false])
})

test('an invalid PGSSLMODE is an error, and not a connection that verifies nothing', () => {
  for (const [mode, reason] of [
    ['verify_full', /PGSSLMODE is not a mode/],
    ['verify-ca', /PGSSLMODE=verify-ca needs an sslrootcert/],
  ] as const)
    assert.throws(
      () => tlsWith(mode),
      error => error instanceof StoreUnavailableError && reason.test(error.message),
    )
})
