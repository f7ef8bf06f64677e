// The dashboard's files over HTTP: types, caching, compression, security headers, the redirect from `/`, and unchanged
// responses to clients of the protocol.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { query } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const without = serverOfFile({ flags: ['--dashboard', 'false'] })

const browserAccept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers, redirect: 'manual' })

test('the page has a strict policy, and is revalidated each time', async () => {
  const response = await get('/dashboard/')
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/html;charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-cache')
  assert.equal(
    response.headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types worker",
  )
  const html = await response.text()
  assert.doesNotMatch(html, /<script(?![^>]*src=)|<style|style=|https?:/)
})

test('every page address returns the application, a missing file does not', async () => {
  const page = await (await get('/dashboard/')).text()
  assert.equal(await (await get('/dashboard/collections/items/1?at=2024-01-01T00:00:00Z')).text(), page)
  assert.equal((await get('/dashboard/assets/none.js')).status, 404)
  const slashless = await get('/dashboard')
  assert.equal(slashless.status, 303)
  assert.equal(slashless.headers.get('location'), '/dashboard/')
})

test('a file may be cached forever, and is compressed', async () => {
  const [script = ''] = /\/dashboard\/assets\/[\w-]+\.js/.exec(await (await get('/dashboard/')).text()) ?? []
  const plain = await get(script, { 'accept-encoding': 'identity' })
  assert.equal(plain.headers.get('content-type'), 'text/javascript;charset=utf-8')
  assert.match(plain.headers.get('cache-control') ?? '', /immutable/)
  const text = await plain.text()
  for (const encoding of ['br', 'gzip']) {
    const response = await get(script, { 'accept-encoding': encoding })
    assert.equal(response.headers.get('content-encoding'), encoding)
    assert.equal(await response.text(), text)
  }
  const head = await fetch(server.url + script, { method: 'HEAD' })
  assert.equal(head.status, 200)
  assert.equal(await head.text(), '')
})

test('a browser that opens the service is redirected to the dashboard, a client is not', async () => {
  const visit = await get('/', { accept: browserAccept })
  assert.equal(visit.status, 303)
  assert.equal(visit.headers.get('location'), '/dashboard/')
  assert.equal((await get('/', { accept: '*/*' })).status, 401)
  assert.equal((await get('/?q=1', { accept: browserAccept })).status, 401)
  assert.equal(await query(server, server.rootSecret, { add: [1, 2] }), 3)
})

test('without a dashboard, its paths do not exist', async () => {
  const options = { headers: { accept: browserAccept }, redirect: 'manual' } as const
  assert.equal((await fetch(`${without.url}/`, options)).status, 401)
  assert.equal((await fetch(`${without.url}/dashboard/`, options)).status, 404)
})

test('the principal endpoint describes the secret', async () => {
  const tell = async (secret: string) => {
    const response = await get('/api/v1/principal', { authorization: `Bearer ${secret}` })
    return { status: response.status, body: await response.json() }
  }
  assert.deepEqual(await tell(server.rootSecret), {
    status: 200,
    body: { database: [], role: 'admin', is_root: true, identity: null, region_group: 'us-std' },
  })
  await query(server, server.rootSecret, { create_database: { object: { name: 'shop' } } })
  const scoped = await tell(`${server.rootSecret}:shop:server`)
  assert.deepEqual(scoped.body, {
    database: ['shop'],
    role: 'server',
    is_root: false,
    identity: null,
    region_group: 'us-std',
  })
  assert.equal((await tell('nonsense')).status, 401)
})
