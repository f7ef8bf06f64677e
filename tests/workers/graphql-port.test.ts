// `--graphql-port`: an additional port with the same endpoints, with one process and with several workers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { importSchema, sendOperation } from '../support/graphql.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'

const data = folderOfFile()
const created = { data: { createCat: { name: 'a' } } }

for (const workers of ['1', '2'])
  test(`GraphQL on an additional port with ${workers} processes`, async () => {
    let stderr = ''
    const flags = ['--graphql-port', '0', '--workers', workers, ...withoutSlowLane]
    await using server = await startProcess({ flags, onStderr: text => (stderr = text) })
    const [, url = ''] = /GraphQL is also at (\S+)\/graphql/.exec(stderr) ?? []
    assert.notEqual(url, server.url)
    const secret = await keyOfNewDatabase(server, 'cats', 'admin')
    await importSchema({ url }, secret, 'type Cat { name: String! }')
    const create = 'mutation { createCat(data: {name: "a"}) { name } }'
    const { json } = await sendOperation({ url }, secret, create)
    assert.deepEqual(json, created)
    const { port } = new URL(url)
    const words = ['serve', '--port', '0', '--data', data, '--graphql-port', port, '--workers', workers]
    const second = await runProgram(words, { TERRARIUM_ROOT_SECRET: server.rootSecret })
    assert.match(second.stderr, new RegExp(`:${port} is already in use`))
    assert.equal(second.status, 1)
  })
