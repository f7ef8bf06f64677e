// Sends queries over plain HTTP/1.1 without a driver, exactly as they are on the wire.

import { parseExpression } from '../../src/fql4/text/index.ts'
import { writeJson } from '../../src/values/write-json.ts'
import type { RunningServer } from './server.ts'

export interface HttpRequest {
  /** Without a secret, the request has no credential. */
  readonly secret?: string
  /** A wire expression, sent as JSON. */
  readonly query?: unknown
  /** The body that is sent unchanged, instead of `query`. */
  readonly body?: string | FormData
  readonly method?: string
  readonly path?: string
  readonly scheme?: 'bearer' | 'basic'
  readonly headers?: Readonly<Record<string, string>>
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** `text` as JSON; undefined if it is not JSON. */
  readonly json: unknown
}

/** Sends `POST /` with API version 4 by default. */
export async function send(server: Pick<RunningServer, 'url'>, request: HttpRequest): Promise<HttpAnswer> {
  const headers = new Headers({ 'x-faunadb-api-version': '4' })
  if (request.secret !== undefined)
    headers.set('authorization', authorization(request.secret, request.scheme))
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value)
  const body = request.body ?? (request.query === undefined ? undefined : JSON.stringify(request.query))
  const response = await fetch(server.url + (request.path ?? '/'), {
    method: request.method ?? 'POST',
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: parsed(text) }
}

/** Returns the `resource`; throws with status and body when the query fails. */
export async function query(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  expression: unknown,
): Promise<unknown> {
  return fieldOf(await send(server, { secret, query: expression }), 'resource')
}

/** Version 4 in its text form, such as `Count(Documents(Collection("c")))`. */
export function sendText(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  text: string,
): Promise<HttpAnswer> {
  return send(server, { secret, body: writeJson(parseExpression(text).json) })
}

/** Returns the `resource` of a query of version 4 in its text form; throws with status and body when it fails. */
export async function runText(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  text: string,
): Promise<unknown> {
  return fieldOf(await sendText(server, secret, text), 'resource')
}

/**
 * Sends a query of version 10; arguments are in the format `simple`. Most tests are about evaluation, and some of their
 * programs have type errors on purpose, so types are checked only if `headers` say so.
 */
export function sendFql(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  text: string,
  args: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const body = JSON.stringify({ query: text, arguments: args })
  return send(server, { secret, path: '/query/1', body, headers: { 'x-typecheck': 'false', ...headers } })
}

/** Returns the `data` of a query of version 10; throws with status and body when it fails. */
export async function fql(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  text: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  return fieldOf(await sendFql(server, secret, text, args), 'data')
}

export function rootQuery(server: RunningServer, expression: unknown): Promise<unknown> {
  return query(server, server.rootSecret, expression)
}

/** Returns the secret of a key with the given role. `fields`: further fields of the database. */
export async function keyOfNewDatabase(
  server: RunningServer,
  name: string,
  role: string,
  fields: object = {},
): Promise<string> {
  await rootQuery(server, { create_database: { object: { name, ...fields } } })
  const key = await rootQuery(server, { create_key: { object: { database: { database: name }, role } } })
  return (key as { secret: string }).secret
}

function fieldOf(answer: HttpAnswer, name: 'resource' | 'data'): unknown {
  if (answer.status >= 300) throw new Error(`status ${answer.status}: ${answer.text}`)
  return (answer.json as Record<string, unknown>)[name]
}

function authorization(secret: string, scheme: 'bearer' | 'basic' = 'bearer'): string {
  return scheme === 'bearer' ? `Bearer ${secret}` : `Basic ${Buffer.from(`${secret}:`).toString('base64')}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
