// Requests to the endpoints of schema files.

import assert from 'node:assert/strict'
import { type HttpAnswer, send } from './http.ts'
import type { RunningServer } from './server.ts'

type Server = Pick<RunningServer, 'url'>
type Files = Readonly<Record<string, string>>

/** Sends files to an endpoint below `/schema/1/`. Without files, reads the endpoint. */
export function requestSchema(
  server: Server,
  secret: string,
  path: string,
  files?: Files,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const target = { secret, path: `/schema/1/${path}`, headers }
  if (files === undefined) return send(server, { ...target, method: 'GET' })
  const body = new FormData()
  for (const [name, text] of Object.entries(files)) body.append(name, new Blob([text]))
  // The service does not accept an empty form.
  return send(server, { ...target, ...(Object.keys(files).length > 0 && { body }) })
}

/** Pushes files, which must be accepted. */
export async function pushFiles(server: Server, secret: string, files: Files, parameters = 'force=true') {
  const { status, text } = await requestSchema(server, secret, `update?${parameters}`, files)
  assert.equal(status, 200, text)
}
