// Reads and changes the password and the tokens of a user's document. The queries are in version 10, which finds
// passwords and tokens by the document, without a scan of all users.

import { currentSecret } from '../session.ts'
import { type Json, listAt, type Query, textAt } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { ChangedError } from './checked-writes.ts'
import { runVersion10 } from './client.ts'
import { write } from './data.ts'
import type { DocumentName } from './documents.ts'

export interface UserToken {
  readonly id: string
  /** Transaction time. */
  readonly ts: bigint
  /** ISO 8601; undefined if the token does not expire. */
  readonly expires: string | undefined
}

/** The data about the login of a document that the page shows. */
interface User {
  /** Transaction time; undefined without a password. */
  readonly passwordSet: bigint | undefined
  readonly tokens: readonly UserToken[]
  /** True if the user has more tokens. */
  readonly isMore: boolean
}

const tokensShown = 50

const userQuery = `let document = Collection(collection).byId(id)!
let credential = Credential.byDocument(document)
{
  password: if (credential.exists()) credential!.ts.toMicros() else null,
  tokens: Token.byDocument(document).take(${tokensShown + 1}).toArray().map(token => {
    { id: token.id, ts: token.ts.toMicros(), ttl: token.ttl }
  })
}`

/** Texts are passed as arguments, so that they cannot become code. */
async function queryDocument(
  query: string,
  { collection, id }: DocumentName,
  others: Readonly<Record<string, Query>>,
  signal: AbortSignal,
): Promise<Json> {
  const { value } = await runVersion10(query, currentSecret.value, signal, { collection, id, ...others })
  return value
}

function longAt(value: Json, name: string): bigint | undefined {
  const digits = textAt(value, name, '@long')
  return digits === undefined ? undefined : BigInt(digits)
}

export async function readUser(user: DocumentName, signal: AbortSignal): Promise<User> {
  const value = await queryDocument(userQuery, user, {}, signal)
  const tokens = listAt(value, 'tokens').map(token => ({
    id: textAt(token, 'id') ?? '',
    ts: longAt(token, 'ts') ?? 0n,
    expires: textAt(token, 'ttl', '@time'),
  }))
  return {
    passwordSet: longAt(value, 'password'),
    tokens: tokens.slice(0, tokensShown),
    isMore: tokens.length > tokensShown,
  }
}

const passwordQuery = `let document = Collection(collection).byId(id)!
let credential = Credential.byDocument(document)
let stored = if (credential.exists()) credential!.ts.toMicros() else null
if (stored != known) "changed" else {
  if (stored == null) Credential.create({ document: document, password: password })
  else credential!.update({ password: password })
  "set"
}`

/**
 * `passwordSet`: the transaction time of the password that was read. Throws `ChangedError` when another password was
 * set since.
 */
export async function setPassword(
  user: DocumentName,
  password: string,
  passwordSet: bigint | undefined,
  signal: AbortSignal,
): Promise<void> {
  const known = passwordSet === undefined ? null : { '@long': String(passwordSet) }
  const outcome = await queryDocument(passwordQuery, user, { password, known }, signal)
  if (outcome !== 'set') throw new ChangedError()
}

/** Needs no password. Returns the secret of the token. `expires` is ISO 8601, or empty. */
export async function logInAs(user: DocumentName, expires: string, signal: AbortSignal): Promise<string> {
  const instance = documentRef(user.collection, user.id)
  const fields = { instance, ...(expires !== '' && { ttl: { '@ts': expires } }) }
  const { value } = await write({ create: { tokens: null }, params: { object: fields } }, signal)
  return textAt(value, 'secret') ?? ''
}

const revokeQuery = `let document = Collection(collection).byId(id)!
Token.byDocument(document).forEach(token => token.delete())`

export async function revokeAll(user: DocumentName, signal: AbortSignal): Promise<void> {
  await queryDocument(revokeQuery, user, {}, signal)
}
