// Who counts as one guesser: a credential at an address, and of an IPv6 address the half that its owner cannot choose.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Asking } from '../../../src/auth/guesser.ts'
import { guesserOf, networkOf } from '../../../src/auth/guesser.ts'
import { native, Ref, rootDatabase } from '../../../src/values/value.ts'

test('addresses of one host are one', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2')
  assert.equal(networkOf('2001:db8:1:2::1'), '2001:db8:1:2')
  assert.equal(networkOf('2001:0DB8:1::'), '2001:db8:1:0')
  assert.equal(networkOf('::1'), '0:0:0:0')
  assert.equal(networkOf('fe80::1:2:3:4%eth0'), 'fe80:0:0:0')
})

test('another credential, database or address is another guesser', () => {
  const guesser = (credential: Ref | undefined, database: bigint, address: string | undefined) =>
    guesserOf({ caller: { credential, database }, address } as Asking)
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
  assert.equal(guesser(key, 0n, '::ffff:192.0.2.1'), names[0])
})
