// Nobody gets past the door without a credential: every endpoint, by the list the service itself serves from.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Services } from '../../src/http/endpoint.ts'
import { endpoints } from '../../src/http/routes.ts'
import { send } from '../support/http.ts'
import { type RunningServer, startServer } from '../support/server.ts'

/** Endpoints that tell nothing about anybody, so that everybody may ask. */
const open = new Set(['/ping', '/error'])

let server: RunningServer
before(async () => {
  server = await startServer()
})
after(() => server.stop())

const routes = endpoints({
  queryLog: {},
  stopping: new AbortController().signal,
} as unknown as Services)
const credentials = {
  'no credential': undefined,
  'a wrong secret': 'wrong',
  'a made-up key': `fnA${'x'.repeat(37)}`,
}

for (const [name, secret] of Object.entries(credentials)) {
  test(`with ${name} every endpoint refuses`, async () => {
    const paths = ['/', ...routes.map(route => route.path)]
    for (const path of paths.filter(each => !open.has(each))) {
      const route = routes.find(each => each.path === path)
      for (const method of Object.keys(route?.methods ?? { POST: true })) {
        const body = method === 'POST' ? { body: '{"add":[1,2]}' } : {}
        const target = path.replace(/:\w+|\*$/, '1')
        const { status } = await send(server, { method, path: target, ...(secret && { secret }), ...body })
        assert.ok(status === 401 || status === 403, `${method} ${path} answered ${status}`)
      }
    }
  })
}
