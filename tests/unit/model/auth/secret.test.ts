// Secrets: their layout, and how they are compared with stored hashes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Memo } from '../../../../src/base/pending.ts'
import { nativeBcrypt } from '../../../../src/model/auth/bcrypt.ts'
import {
  makeKeySecret,
  makeTokenSecret,
  parseSecret,
  SecretVerifier,
} from '../../../../src/model/auth/secret.ts'
import { rootDatabase } from '../../../../src/values/value.ts'
import { fc } from '../../../support/fast-check.ts'
import { answered, CountingBcrypt } from './support.ts'

const zeroes = new Uint8Array(20)
const maxId = 2n ** 63n - 1n

test('the documented secrets', () => {
  assert.equal(makeKeySecret(maxId, zeroes), 'fnB__________wAAAAAAAAAAAAAAAAAAAAAAAAAA')
  assert.equal(makeTokenSecret(maxId, maxId, zeroes), 'fnF__________3__________AAAAAAAAAAAAAAAAAAAAAAAAAAA')
})

const ids = fc.bigInt({ min: 0n, max: maxId })
const randoms = fc.uint8Array({ minLength: 20, maxLength: 20 })

test('a secret contains the parts it was made from', () => {
  fc.assert(
    fc.property(ids, ids, randoms, (id, database, random) => {
      const text = Buffer.from(random).toString('base64url')
      const key = makeKeySecret(id, random)
      assert.equal(key.length, 40)
      assert.deepEqual(parseSecret(key), { kind: 'key', id, random: text })
      const token = makeTokenSecret(id, database, random)
      assert.equal(token.length, 51)
      assert.deepEqual(parseSecret(token), { kind: 'token', id, database, random: text })
    }),
  )
})

test('anything but exactly a secret is rejected', () => {
  const key = makeKeySecret(1n, zeroes)
  const token = makeTokenSecret(1n, 2n, zeroes)
  const wrong = [
    '',
    'fn',
    key.slice(0, -1),
    `${key}A`,
    `${key}=`,
    ` ${key.slice(1)}`,
    key.replace('fn', 'fo'),
    token.replace('fnE', 'fnA'),
    `${key.slice(0, -2)} A`,
    `${key.slice(0, -1)}*`,
    // The spare bits of the last character are set: another spelling of the same bytes.
    `${token.slice(0, -1)}B`,
    key.replaceAll('A', '+'),
    'x'.repeat(1_000_000),
  ]
  for (const text of wrong) assert.equal(parseSecret(text), undefined, text.slice(0, 60))
})

test('arbitrary text never throws', () => {
  fc.assert(fc.property(fc.string({ maxLength: 60 }), text => void parseSecret(text)))
  fc.assert(fc.property(fc.base64String({ minLength: 40, maxLength: 40 }), text => void parseSecret(text)))
})

test('a verified pair costs no second check; a wrong one always does', async () => {
  const bcrypt = new CountingBcrypt()
  const verifier = new SecretVerifier(bcrypt)
  const stored = await bcrypt.hash(Buffer.from('right'), 4)
  const verify = (...texts: string[]) => answered(memo => verifier.verify(memo, rootDatabase, texts, stored))
  assert.equal(await verify('right'), true)
  assert.equal(await verify('right'), true)
  assert.equal(bcrypt.compared.length, 1)
  assert.equal(await verify('wrong'), false)
  assert.equal(await verify('wrong'), false)
  assert.equal(bcrypt.compared.length, 3)
  const other = await bcrypt.hash(Buffer.from('other'), 4)
  assert.equal(await answered(memo => verifier.verify(memo, rootDatabase, ['right'], other)), false)
})

test('a hash of the second text (the whole secret) verifies as well', async () => {
  const verifier = new SecretVerifier()
  const stored = await nativeBcrypt.hash(Buffer.from('whole'), 4)
  assert.equal(await answered(memo => verifier.verify(memo, rootDatabase, ['random', 'whole'], stored)), true)
})

test('new hashes are bcrypt of cost 5', async () => {
  assert.match(await new SecretVerifier().hash(new Memo(), rootDatabase, 'x'), /^\$2[ab]\$05\$/)
})

test('hashes with all prefixes verify; an invalid or too costly hash is false without waiting', async () => {
  const hash = await nativeBcrypt.hash(Buffer.from('s'), 4)
  const verifier = new SecretVerifier()
  for (const variant of ['a', 'b', 'y']) {
    const stored = `$2${variant}${hash.slice(3)}`
    assert.equal(await answered(memo => verifier.verify(memo, rootDatabase, ['s'], stored)), true, variant)
  }
  const bcrypt = new CountingBcrypt()
  const useless = [
    '',
    'plain',
    hash.slice(1),
    `${hash}x`,
    `$2b$17${hash.slice(6)}`,
    `$2b$31${hash.slice(6)}`,
    `$2x${hash.slice(3)}`,
  ]
  for (const stored of useless)
    assert.equal(
      await answered(memo => new SecretVerifier(bcrypt).verify(memo, rootDatabase, ['s'], stored)),
      false,
    )
  assert.equal(bcrypt.compared.length, 0)
})
