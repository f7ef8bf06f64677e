// The flows of applications with the client, in Node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '../../client/src/index.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { serverOfFile } from '../support/server.ts'
import { flows } from './app-flows.ts'

const server = serverOfFile()
let databases = 0

for (const [name, { run, expected }] of Object.entries(flows)) {
  test(name, { timeout: patience(60_000) }, async () => {
    databases += 1
    const secret = await keyOfNewDatabase(server, `app_${databases}`, 'admin')
    const config = { url: server.url, secret }
    const seen = await run(new Client(config), config)
    assert.deepEqual(JSON.parse(JSON.stringify(seen)), expected)
  })
}
