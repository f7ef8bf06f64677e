// Functions to log in and out, and to query the identity of the caller.

import { msg } from '../../base/message.ts'
import { equalizeReads, logOut } from '../../model/auth/login.ts'
import { Failure } from '../../model/failure.ts'
import { mayRead, permissionDenied } from '../../model/permissions.ts'
import { countingRead } from '../../model/read.ts'
import { invalidType } from '../../model/resources/resource.ts'
import { createToken } from '../../model/resources/secrets.ts'
import { viewDocument } from '../../model/view-document.ts'
import { type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { boolean, identifier, nullArgument, object, string } from '../arguments.ts'
import { type Call, define, family, type Lifetime, unary } from '../definition.ts'
import { QueryError } from '../query-errors.ts'
import { firstIdentity } from '../sets/read.ts'
import { isSet, type SetLike } from '../values/transient.ts'

/**
 * For a set, the user is its first document at the present time, even inside `at`. The bytes of this read are not
 * counted, and an empty set takes as long as a set with documents. Therefore, callers without read permission cannot
 * find out which users exist.
 */
function instanceOf(target: SetLike, call: Call, key: string): Ref | undefined {
  if (!isSet(target)) return target as Ref
  const { counters } = call.session.transaction
  const { readBytes } = counters
  const found = call.session.with({ validTime: undefined }, () => firstIdentity(target, call, key))
  equalizeReads(call.session, found !== undefined)
  counters.readBytes = readBytes
  return found
}

/** Returns whether a document is in another database than the query. Child databases are other databases. */
function isElsewhere(instance: Ref | undefined, call: Call): boolean {
  return instance !== undefined && instance.database !== call.session.database
}

/** Returns whether a password is correct. For an unknown user, the check takes the same time and has the same cost. */
function passwordMatches(instance: Ref | undefined, target: SetLike, password: string, call: Call): boolean {
  const { session } = call
  session.countRead(`credentials of ${instance?.collection}/${instance?.id}`, 0, 1)
  return session.host.logins.checkPassword(session, target, instance, password)
}

function logIn(target: SetLike, params: ObjectValue, call: Call): Value {
  const instance = instanceOf(target, call, 'login')
  if (isElsewhere(instance, call)) throw call.invalid(msg`Cannot write a scoped ref.`, 'login')
  const password = params.get('password') ?? null
  if (password !== null && typeof password !== 'string') {
    const failures = [invalidType(['password'], password, 'String')]
    throw Failure.of({ kind: 'invalid fields', failures })
  }
  const known = typeof password === 'string' && passwordMatches(instance, target, password, call)
  if (!known || !instance) {
    const description = msg`The document was not found or provided password was incorrect.`
    throw call.error('authentication failed', description)
  }
  return createToken(instance, params, call.session)
}

function currentIdentity(call: Call): Value {
  const { identity } = call.session.caller
  if (identity !== undefined) return identity
  throw call.error('missing identity', msg`Authentication does not contain an identity`)
}

/**
 * Returns the key, token, or payload of a third-party token; undefined for the root secret and keys of other databases.
 */
function currentToken(call: Call): Value | undefined {
  const { credential } = call.session.caller
  if (!(credential instanceof Ref)) return credential
  return credential.database === call.session.database ? credential : undefined
}

function ownerOfSecret(secret: string, call: Call): Value {
  const { memo, host, transaction } = call.session
  const owner = host.logins.ownerOf(transaction, memo, secret)
  const unknown = () => {
    const description = msg`No key found for secret ${secret}.`
    // Unlike other errors with this code, this error had the status 400 in the hosted service.
    return QueryError.of('instance not found', description, call.position(), { status: 400 })
  }
  if (!owner) throw unknown()
  if ('ref' in owner) {
    if (!mayRead(owner.ref, call.session)) throw unknown()
    countingRead(owner.ref, call.session, () => transaction.get(owner.ref))
    return viewDocument(owner, call.session)
  }
  // The secret is a third-party token.
  const database = transaction.catalogue.database(owner.database)
  if (!database) throw unknown()
  if (!mayRead(database.ref, call.session)) throw permissionDenied()
  return new Map([['database', database.ref]])
}

const identityReader = (name: string, lifetime: Lifetime) =>
  define({
    effect: 'read',
    ...lifetime,
    arguments: { [name]: nullArgument },
    result: 'Ref or String',
    summary:
      "Returns the document that the caller is logged in as, or the subject of the caller's third-party token. Without an identity, the call fails.",
    example: [`{"if": {"has_${name}": null}, "then": {"${name}": null}, "else": "nobody"}`, '"nobody"'],
    evaluate: (_args, call) => currentIdentity(call),
  })

const identityProbe = (name: string, lifetime: Lifetime) =>
  unary(name, nullArgument, {
    effect: 'read',
    ...lifetime,
    result: 'Boolean',
    summary: 'True if the caller has an identity.',
    example: ['null', 'false'],
    evaluate: (_, call) => call.session.caller.identity !== undefined,
  })

export const identity = family('Identity', [
  define({
    effect: 'write',
    arguments: { login: identifier, params: object },
    result: 'Document',
    summary:
      'Checks the `password` in `params` and creates a token for the document; a wrong password is an error. Only this response contains the secret of the token.',
    example: [
      '{"is_string": {"select": "secret", "from": {"login": {"ref": {"collection": "users"}, "id": "1"}, "params": {"object": {"password": "open sesame"}}}}}',
      'true',
    ],
    evaluate: (args, call) => logIn(args.login, args.params, call),
  }),
  unary('logout', boolean, {
    effect: 'write',
    result: 'Boolean',
    summary:
      "Deletes the caller's token, or all tokens of the caller's identity if the argument is true. Returns false if the caller has no token or identity.",
    example: ['false', 'false'],
    evaluate: (all, call) => logOut(call.session.transaction, call.session.caller, all),
  }),
  define({
    effect: 'read',
    arguments: { identify: identifier, password: string },
    result: 'Boolean',
    summary:
      'True if `password` is the password of the document `identify`. False if the document does not exist or has no password.',
    example: ['{"identify": {"ref": {"collection": "users"}, "id": "1"}, "password": "wrong"}', 'false'],
    evaluate({ identify, password }, call) {
      const instance = instanceOf(identify, call, 'identify')
      return !isElsewhere(instance, call) && passwordMatches(instance, identify, password, call)
    },
  }),
  identityReader('current_identity', { since: '4' }),
  identityReader('identity', { deprecatedFor: 'current_identity' }),
  identityProbe('has_current_identity', { since: '4' }),
  identityProbe('has_identity', { deprecatedFor: 'has_current_identity' }),
  define({
    effect: 'read',
    since: '4',
    arguments: { current_token: nullArgument },
    result: 'Ref or Object',
    summary:
      "Returns the reference of the caller's token or key, or the payload of the caller's third-party token. A key of another database is an error.",
    example: ['{"is_ref": {"current_token": null}}', 'true'],
    evaluate(_args, call) {
      const token = currentToken(call)
      if (token !== undefined) return token
      throw call.error('invalid token', msg`Token metadata is not accessible.`)
    },
  }),
  // As in the hosted service, the effect is `pure`, although `current_token` reads.
  unary('has_current_token', nullArgument, {
    since: '4',
    result: 'Boolean',
    summary: 'True if `current_token` returns a value.',
    example: ['null', 'true'],
    evaluate: (_, call) => currentToken(call) !== undefined,
  }),
  define({
    effect: 'read',
    arguments: { key_from_secret: string },
    result: 'Document',
    summary: 'Returns the key or token to which a secret belongs. An unknown secret is an error.',
    example: [
      '{"let": {"key": {"create_key": {"object": {"role": "client"}}}}, "in": {"select": "role", "from": {"key_from_secret": {"select": "secret", "from": {"var": "key"}}}}}',
      '"client"',
    ],
    evaluate: (args, call) => ownerOfSecret(args.key_from_secret, call),
  }),
])
