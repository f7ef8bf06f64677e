// The client's package as users install it: packed, installed into an empty folder, imported from ES modules, CommonJS
// and TypeScript. It is small and has no dependencies.

import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { repository } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { environment, installPacked, run } from './npm.ts'

/** Maximum compressed bytes of the modules that a program loads. */
const compressedBytesMax = 15_000

const server = serverOfFile()
const folder = folderOfFile()
const installed = (path: string) => join(folder, 'node_modules/terrarium-client', path)

before(() => installPacked(folder, ['client'], ['--offline']))

test('it is small, and has no dependencies and no sources', async () => {
  const { dependencies } = JSON.parse(await readFile(installed('package.json'), 'utf8'))
  assert.equal(dependencies, undefined)
  assert.deepEqual(await readdir(join(folder, 'node_modules')), ['.package-lock.json', 'terrarium-client'])
  assert.deepEqual((await readdir(installed('.'))).sort(), ['LICENSE', 'README.md', 'dist', 'package.json'])
  for (const kind of ['module', 'commonjs']) {
    const bytes = gzipSync(await readFile(installed(`dist/${kind}/index.js`))).length
    assert.ok(bytes < compressedBytesMax, `${kind} has ${bytes} bytes`)
  }
})

test('ES modules and CommonJS can import and use it', async () => {
  const secret = await keyOfNewDatabase(server, 'app', 'server')
  const body = `
    const client = new Client({ url: '${server.url}', secret: '${secret}' })
    client.query(fql\`\${20} + 1 + \${21n}\`).then(({ data }) => console.log(data, Document.name))
  `
  for (const [file, imports] of [
    ['app.mjs', "import { Client, Document, fql } from 'terrarium-client'"],
    ['app.cjs', "const { Client, Document, fql } = require('terrarium-client')"],
  ] as const) {
    await writeFile(join(folder, file), `${imports}\n${body}`)
    const { stdout } = await run(process.execPath, [file], { cwd: folder, env: environment })
    assert.equal(stdout, '42 Document\n')
  }
})

test('TypeScript finds its types from every kind of module', async () => {
  const program = `
    import { Client, type ChangeEvent, type DocumentOf, fql, NullDocument } from 'terrarium-client'
    type Item = DocumentOf<{ price: number }>
    export async function prices(client: Client): Promise<readonly number[]> {
      const { data } = await client.query<Item>(fql\`items.byId(\${'7'})!\`)
      const list: number[] = [data.price]
      for await (const item of client.items<Item>(fql\`items.all()\`)) {
        // @ts-expect-error A document on a later page may have been deleted.
        item.price
        if (!(item instanceof NullDocument)) list.push(item.price)
      }
      const show = (event: ChangeEvent<Item>) => list.push(event.data.price)
      for await (const event of client.follow<Item>(fql\`items.all().eventSource()\`)) show(event)
      return list
    }
    // @ts-expect-error There is no such option.
    new Client({ url: 'u', secret: 's', retires: 1 })
    // @ts-expect-error A symbol cannot be sent.
    fql\`\${Symbol()}\`
  `
  for (const name of ['typed.mts', 'typed.cts']) await writeFile(join(folder, name), program)
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const target = ['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable', '--module', 'nodenext']
  const words = ['--noEmit', '--strict', ...target, '--types', '', 'typed.mts', 'typed.cts']
  await run(process.execPath, [compiler, ...words], { cwd: folder, env: environment })
})
