// Sends operations and schemas to the GraphQL endpoints over plain HTTP.

import assert from 'node:assert/strict'
import { type HttpAnswer, send } from './http.ts'
import type { RunningServer } from './server.ts'

type Server = Pick<RunningServer, 'url'>

interface OperationAnswer {
  readonly data?: unknown
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly (string | number)[]
    readonly extensions?: { readonly code: string }
  }[]
}

export function sendOperation(
  server: Server,
  secret: string,
  query: string,
  variables: object = {},
): Promise<HttpAnswer> {
  return send(server, { secret, path: '/graphql', body: JSON.stringify({ query, variables }) })
}

/** Returns the body of the response. Fails for another status than 200. */
export async function runOperation(
  server: Server,
  secret: string,
  query: string,
  variables: object = {},
): Promise<OperationAnswer> {
  const { json, status, text } = await sendOperation(server, secret, query, variables)
  assert.equal(status, 200, text)
  return json as OperationAnswer
}

/** Fails if the response contains errors. */
export async function dataOf(
  server: Server,
  secret: string,
  query: string,
  variables: object = {},
): Promise<Record<string, unknown>> {
  const { data, errors } = await runOperation(server, secret, query, variables)
  assert.deepEqual(errors ?? [], [])
  return data as Record<string, unknown>
}

export function sendSchema(server: Server, secret: string, sdl: string, mode = 'merge'): Promise<HttpAnswer> {
  return send(server, { secret, path: `/import?mode=${mode}`, body: sdl })
}

/** Fails if the schema is rejected. */
export async function importSchema(
  server: Server,
  secret: string,
  sdl: string,
  mode = 'merge',
): Promise<void> {
  const { status, text } = await sendSchema(server, secret, sdl, mode)
  assert.equal(status, 200, text)
}
