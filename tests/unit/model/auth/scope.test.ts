// Parses the text of credentials: the header, and the suffix of a secret.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { looksLikeToken, parseAuthorization } from '../../../../src/model/auth/credential.ts'
import { parseScopedSecret, type Scope } from '../../../../src/model/auth/scope.ts'
import { fc } from '../../../support/fast-check.ts'
import { basic } from './support.ts'

test('credentials in headers', () => {
  const cases: Record<string, string | undefined> = {
    'Bearer secret': 'secret',
    'Bearer \t secret': 'secret',
    ' Bearer secret ': 'secret',
    'Bearer secret:': 'secret:',
    [basic('secret')]: 'secret',
    [basic('secret:')]: 'secret',
    [basic('secret::')]: 'secret:',
    [basic('secret:scope')]: 'secret:scope',
    [basic(' secret: ')]: 'secret',
    [`${basic('secret')}:`]: 'secret',
    'Basic c2VjcmV0Og': 'secret',
    'Basic c2VjcmV0Og==': 'secret',
    'bearer secret': undefined,
    'BASIC c2VjcmV0Og==': undefined,
    'Digest secret': undefined,
    Bearer: undefined,
    secret: undefined,
    '': undefined,
    'Bearer two words': undefined,
    'Basic ***': undefined,
    'Basic c2Vjc-V0': undefined,
    'Basic =': undefined,
    'Basic /w==': undefined,
    'Basic wyg=': undefined,
    [`Bearer ${'x'.repeat(20_000)}`]: undefined,
  }
  for (const [header, text] of Object.entries(cases))
    assert.equal(parseAuthorization(header)?.text, text, header.slice(0, 60))
})

test('only Bearer may carry a third-party token', () => {
  assert.equal(parseAuthorization('Bearer eya.b.c')?.mayBeToken, true)
  assert.equal(parseAuthorization(basic('eya.b.c'))?.mayBeToken, false)
  assert.equal(looksLikeToken('eyJ.x'), true)
  assert.equal(looksLikeToken('eyJx'), false)
  assert.equal(looksLikeToken('fnA.x'), false)
})

test('arbitrary headers never throw', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => void parseAuthorization(text)))
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => void parseAuthorization(`Basic ${text}`)))
  fc.assert(fc.property(fc.base64String(), text => void parseAuthorization(`Basic ${text}`)))
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => void parseScopedSecret(text)))
})

const admin = { kind: 'builtin', role: 'admin' } as const

test('meanings of suffixes', () => {
  const cases: Record<string, Scope | null | undefined> = {
    secret: undefined,
    'secret:': undefined,
    'secret:admin': { path: [], target: admin },
    'secret:server-readonly': { path: [], target: { kind: 'builtin', role: 'server-readonly' } },
    'secret:parent/child:admin': { path: ['parent', 'child'], target: admin },
    'secret:@role/x': { path: [], target: { kind: 'role', name: 'x' } },
    'secret:db:@role/x': { path: ['db'], target: { kind: 'role', name: 'x' } },
    'secret:@doc/users/12': { path: [], target: { kind: 'document', collection: 'users', id: 12n } },
    'secret:classes/users/12': { path: [], target: { kind: 'document', collection: 'users', id: 12n } },
    'secret:a/b:collections/users/12': {
      path: ['a', 'b'],
      target: { kind: 'document', collection: 'users', id: 12n },
    },
    'secret:@role/x:admin': { path: ['@role', 'x'], target: admin },
    'secret:nonsense': null,
    'secret:serverX': null,
    'secret:Admin': null,
    'secret:server ': null,
    'secret:db:': null,
    'secret::admin': null,
    'secret:db:nonsense': null,
    'secret:a:b:admin': null,
    'secret:a,b:admin': null,
    'secret:a(b:admin': null,
    'secret:a=b:admin': null,
    'secret:@role/': null,
    'secret:@role/x/y': null,
    'secret:@doc/users': null,
    'secret:@doc/users/': null,
    'secret:@doc/users/x': null,
    'secret:@doc/users/-1': null,
    'secret:@doc/users/1/2': null,
    'secret:@doc/users/9223372036854775808': null,
    'secret:@doc//1': null,
    'secret:admin/': null,
    'secret:/admin': null,
  }
  for (const [text, scope] of Object.entries(cases))
    assert.deepEqual(parseScopedSecret(text), { secret: 'secret', scope }, text)
})
