// A client of the log API, as a pipeline uses it.

import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { eventually } from '../support/eventually.ts'
import type { RunningServer } from '../support/server.ts'

export interface ApiAnswer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

export type LogRecord = Readonly<Record<string, unknown>>

const hourMs = 3_600_000

/** An interval around now. */
export function aroundNow(): { time_start: string; time_end: string } {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  return { time_start: at(-hourMs), time_end: at(hourMs) }
}

/** Sends one request with a bearer credential. */
export async function api(
  server: Pick<RunningServer, 'url'>,
  secret: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> {
  const response = await fetch(server.url + path, {
    method,
    headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, json: text === '' ? {} : JSON.parse(text) }
}

/** Requests an export; the request must be accepted. */
export async function requestExport(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const { status, json } = await api(server, secret, 'POST', '/api/v1/logs?type=query', {
    ...aroundNow(),
    ...body,
  })
  assert.equal(status, 200, JSON.stringify(json))
  return json
}

const finalStates = ['Complete', 'DoesNotExist', 'Failed', 'TimedOut']

/** Polls a request until it has finished. */
export async function finished(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  id: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  let last: Readonly<Record<string, unknown>> = {}
  await eventually(`the export ${id} has finished`, async () => {
    last = (await api(server, secret, 'GET', `/api/v1/logs/${id}?type=query&regionGroup=us-std`)).json
    return finalStates.includes(last.state as string)
  })
  return last
}

/** The records behind a URL. */
export async function download(url: unknown): Promise<LogRecord[]> {
  const response = await fetch(url as string)
  assert.equal(response.status, 200)
  const lines = gunzipSync(Buffer.from(await response.arrayBuffer()))
    .toString()
    .split('\n')
  assert.equal(lines.pop(), '')
  return lines.map(line => JSON.parse(line))
}

/** Requests an export, waits for it and returns its records; empty when there are none. */
export async function exported(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  body: object,
): Promise<LogRecord[]> {
  const { request_id: id } = await requestExport(server, secret, body)
  const end = await finished(server, secret, id)
  if (end.state === 'DoesNotExist') return []
  assert.equal(end.state, 'Complete')
  return download(end.presigned_url)
}
