// Requests to `POST /stream`, and the responses before the first event.

import assert from 'node:assert/strict'
import { on } from 'node:events'
import http2 from 'node:http2'
import { send } from '../support/http.ts'
import { requestStream } from './stream-client.ts'
import { type App, streamTests, wire } from './streams-app.ts'

const streamTest = streamTests()

async function rejection(app: App, expression: unknown, options: { fields?: string } = {}): Promise<unknown> {
  const { response } = await requestStream(app.server, app.secret, expression, options)
  const body = (await response.json()) as { errors: unknown[] }
  return { status: response.status, ...(body.errors[0] as object) }
}

streamTest('the response head arrives with the start event and has the headers of queries', async app => {
  const { ref } = await app.create({ n: 1 })
  const reader = await app.stream(ref)
  const { headers, status } = reader.response
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'application/json;charset=utf-8')
  assert.equal(headers.get('content-length'), null)
  assert.equal(headers.get('transfer-encoding'), 'chunked')
  assert.match(headers.get('x-fauna-stream-id') ?? '', /^\d+$/)
  assert.match(headers.get('x-txn-time') ?? '', /^\d{16}$/)
  assert.match(headers.get('traceparent') ?? '', /^00-/)
  assert.equal(headers.get('x-query-bytes-out'), '0')
  assert.equal(headers.get('x-compute-ops'), '1')
})

streamTest('the start event contains the time of the newest transaction', async app => {
  const made = await app.create({ n: 1 })
  const { response, abort } = await requestStream(app.server, app.secret, made.ref)
  const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read()
  const text = new TextDecoder().decode(value)
  const { txn } = JSON.parse(text)
  assert.equal(txn, made.ts)
  assert.equal(text, `{"type":"start","txn":${txn},"event":${txn}}\r\n`)
  abort.abort()
})

streamTest('over HTTP/2, each event has its own frame, even within one transaction', async app => {
  const session = http2.connect(app.server.url)
  try {
    const headers = { authorization: `Bearer ${app.secret}`, 'x-faunadb-api-version': '4' }
    const stream = session.request({ ':method': 'POST', ':path': '/stream', ...headers })
    stream.end(JSON.stringify({ documents: { collection: 'things' } }))
    const frames = on(stream.setEncoding('utf8'), 'data', { close: ['end'] })
    const next = async () => (await frames.next()).value?.[0] as string
    assert.match(await next(), /^\{"type":"start",[^\n]*\r\n$/)
    const creates = Array.from({ length: 20 }, () => ({ create: { collection: 'things' }, params: wire({}) }))
    await app.query({ do: creates })
    for (const _ of creates) assert.match(await next(), /^\{"type":"set",[^\n]*\r\n$/)
  } finally {
    session.destroy()
  }
})

streamTest('streams of documents and of stored sets can be opened', async app => {
  const { ref } = await app.create({ n: 1 })
  await app.query({ create_index: { object: { name: 'all', source: { collection: 'things' } } } })
  const subjects = [
    ref,
    { ref: { collection: 'things' }, id: '12345' },
    { get: ref },
    { match: { index: 'all' } },
    { documents: { collection: 'things' } },
    { documents: { tokens: null } },
    { documents: { credentials: null } },
  ]
  for (const subject of subjects) {
    const reader = await app.stream(subject)
    reader.close()
  }
})

streamTest('all other expressions are rejected with the name of their type', async app => {
  await app.query({ create_index: { object: { name: 'all', source: { collection: 'things' } } } })
  const all = { match: { index: 'all' } }
  const subjects: readonly (readonly [unknown, string])[] = [
    [1, 'Integer'],
    ['text', 'String'],
    [null, 'Null'],
    [{ paginate: all }, 'Page'],
    [{ union: [all, all] }, 'Set'],
    [{ events: all }, 'Set'],
    [{ singleton: { ref: { collection: 'things' }, id: '1' } }, 'Set'],
    [{ documents: { keys: null } }, 'Set'],
    [{ collection: 'things' }, 'Collection Ref'],
    [{ index: 'all' }, 'Index Ref'],
    [{ get: { collection: 'things' } }, 'Object'],
  ]
  for (const [subject, type] of subjects) {
    assert.deepEqual(await rejection(app, subject), {
      status: 400,
      position: [],
      code: 'invalid argument',
      description: `Expected a Document Ref or Version, or a Set Ref, got ${type}.`,
    })
  }
})

streamTest('unknown names are invalid references', async app => {
  assert.deepEqual(await rejection(app, { ref: { collection: 'nowhere' }, id: '1' }), {
    status: 400,
    position: [],
    code: 'invalid ref',
    description: "Ref refers to undefined collection 'nowhere'",
  })
  const { code, status } = (await rejection(app, { match: { index: 'nowhere' } })) as Record<string, unknown>
  assert.deepEqual({ code, status }, { code: 'invalid ref', status: 400 })
})

streamTest('a stream request may not write', async app => {
  assert.deepEqual(await rejection(app, { create: { collection: 'things' } }), {
    status: 400,
    position: [],
    code: 'invalid expression',
    description: 'Call performs a write, which is not allowed in stream requests.',
  })
})

streamTest('unknown fields are rejected, blanks around names are ignored', async app => {
  const { ref } = await app.create({ n: 1 })
  assert.deepEqual(await rejection(app, ref, { fields: 'action, extra' }), {
    status: 400,
    position: [],
    code: 'invalid url parameter',
    description: "Invalid url parameter fields. Invalid field name 'extra'.",
  })
  await app.stream(ref, { fields: ' action , diff ' })
})

streamTest('only POST requests with a valid secret are accepted', async app => {
  for (const method of ['GET', 'PUT', 'HEAD', 'DELETE']) {
    const answer = await send(app.server, { method, path: '/stream', secret: app.secret })
    assert.equal(answer.status, 405)
    assert.equal(answer.headers.get('allow'), 'POST')
  }
  const { ref } = await app.create({ n: 1 })
  for (const secret of ['wrong', `${app.secret}x`]) {
    const { response } = await requestStream(app.server, secret, ref)
    assert.equal(response.status, 401)
    await response.body?.cancel()
  }
})

streamTest('a body that is not a query gets the same error as a query', async app => {
  const answer = await send(app.server, { path: '/stream', secret: app.secret, body: '{' })
  assert.equal(answer.status, 400)
  assert.deepEqual(answer.json, {
    errors: [{ position: [], code: 'invalid expression', description: 'Request body is not valid JSON.' }],
  })
})
