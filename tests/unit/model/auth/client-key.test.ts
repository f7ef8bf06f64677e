// The client of a password check: a credential at an address.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientKeyOf, type PasswordRequest } from '../../../../src/model/auth/throttle.ts'
import { native, Ref, rootDatabase } from '../../../../src/values/value.ts'

test('a different credential, database or address is a different guesser', () => {
  const guesser = (credential: Ref | undefined, database: bigint, address: string | undefined) =>
    clientKeyOf({ caller: { credential, database }, address } as PasswordRequest)
  const key = new Ref(rootDatabase, native.keys, 1n)
  const names = [
    guesser(key, 0n, '192.0.2.1'),
    guesser(key, 1n, '192.0.2.1'),
    guesser(key, 0n, '192.0.2.2'),
    guesser(key, 0n, undefined),
    guesser(new Ref(rootDatabase, native.tokens, 1n), 0n, '192.0.2.1'),
    guesser(undefined, 0n, '192.0.2.1'),
  ]
  assert.equal(new Set(names).size, names.length)
})
