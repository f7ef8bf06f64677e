// `terrarium types`: declarations compile with `tsc --strict` together with programs that use them, and match the
// files, the service and watched changes.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Client, DocumentRef, fql, Page } from '../../client/src/index.ts'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, runText } from '../support/http.ts'
import { program, repository } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { typedSchemas } from './type-schemas.ts'

const server = serverOfFile()
const folder = folderOfFile()

async function writeSchema(at: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(at, { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(at, name), text)
}

/** The compiler's errors for all programs below the folder; empty without errors. */
function compiled(): Promise<string> {
  const words = ['--noEmit', '--strict', '--pretty', 'false', '-p', folder]
  return new Promise(resolve => {
    execFile(join(repository, 'node_modules/.bin/tsc'), words, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}` : ''),
    )
  })
}

test('the declarations of five schemas compile with programs that use them', async () => {
  for (const [name, { files, program, programForFauna }] of Object.entries(typedSchemas)) {
    await writeSchema(join(folder, 'schemas', name), files)
    for (const [client, text] of [
      ['terrarium-client', program],
      ['fauna', programForFauna],
    ] as const) {
      const at = join(folder, 'programs', client, name)
      const words = ['--client', client, '--out', join(at, 'schema.ts')]
      const made = await runCommand(['types', join(folder, 'schemas', name), ...words])
      assert.deepEqual([made.status, made.stderr], [0, ''])
      await writeFile(join(at, 'program.ts'), text)
    }
  }
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['es2023', 'dom', 'dom.iterable'],
    paths: { 'terrarium-client': [join(repository, 'client/src/index.ts')] },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['programs'] }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'))
  assert.equal(await compiled(), '')
})

test('the declarations of a service match those of its files, and values have the declared types', async () => {
  const { files } = typedSchemas.shop as (typeof typedSchemas)[string]
  await writeSchema(join(folder, 'live'), files)
  const secret = await keyOfNewDatabase(server, 'live', 'admin')
  const environment = { TERRARIUM_SECRET: secret }
  const pushed = await runCommand(
    ['schema', 'push', join(folder, 'live'), '--url', server.url, '--yes'],
    environment,
  )
  assert.equal(pushed.status, 0, pushed.stderr)
  const ofService = await runCommand(['types', '--url', server.url], environment)
  const ofFiles = await runCommand(['types', join(folder, 'live')])
  assert.equal(ofService.status, 0, ofService.stderr)
  assert.deepEqual(ofService.stdout.split('\n').sort(), ofFiles.stdout.split('\n').sort())
  const client = new Client({ url: server.url, secret })
  await client.query(fql`
    let address = { street: 's', city: 'c', postalCode: 'p' }
    let customer = Customer.create({ name: 'Ada', email: 'a@b.test', address: address })
    Order.create({ status: 'cart', customer: customer, createdAt: Time.now(), payment: {} })
  `)
  type Found = { readonly cart: unknown; readonly orders: Page<{ status: string }> }
  const { data } = await client.query<Found>(fql`Customer.byEmail('a@b.test').first()`)
  assert.ok(data.cart instanceof DocumentRef)
  assert.ok(data.orders instanceof Page)
  const orders = await Array.fromAsync(client.items(data.orders))
  assert.deepEqual(
    orders.map(({ status }) => status),
    ['cart'],
  )
  const { data: bare } = await client.query<object>(
    fql`Customer.create({ name: 'B', email: 'b@b.test', address: { street: 's', city: 'c', postalCode: 'p' } })`,
  )
  assert.equal('cart' in bare ? (bare as { cart: unknown }).cart : 'absent', null)
})

test('a database of version 4 has open documents', async () => {
  const secret = await keyOfNewDatabase(server, 'old', 'admin')
  await runText(server, secret, 'CreateCollection({ name: "things-of-old" })')
  const { stdout } = await runCommand(['types', '--url', server.url], { TERRARIUM_SECRET: secret })
  assert.match(stdout, /export type things_of_oldFields = \{\n {2}readonly \[field: string\]: unknown\n\}/)
})

test('errors are reported with their position, and nothing is written', async () => {
  await writeSchema(join(folder, 'broken'), { 'a.fsl': 'collection A {\n  x: Strin g\n}\n' })
  const out = join(folder, 'broken.ts')
  const broken = await runCommand(['types', join(folder, 'broken'), '--out', out])
  assert.equal(broken.status, 2)
  assert.match(broken.stderr, /at \S+\/broken\/a\.fsl:2:/)
  await assert.rejects(readFile(out))
  for (const [name, words, status, reason] of [
    ['nowhere', [], 1, /there is no folder/],
    ['programs', [], 1, /there are no \.fsl files/],
    ['broken', ['--watch'], 2, /./],
    ['broken', ['--client', 'other'], 2, /./],
  ] as const) {
    const rejected = await runCommand(['types', join(folder, name), ...words])
    assert.equal(rejected.status, status)
    assert.match(rejected.stderr, reason)
  }
})

test('a watched schema is written after each change', { timeout: 60_000 }, async () => {
  const at = join(folder, 'watched')
  await writeSchema(at, { 'a.fsl': 'collection A { x: Int }\n' })
  const out = join(folder, 'watched.ts')
  const child = spawn(process.execPath, [program, 'types', at, '--out', out, '--watch'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    assert.match((await lines.next()).value as string, /^wrote /)
    assert.match(await readFile(out, 'utf8'), /readonly x: number/)
    // Replaces the file at once: `writeFile` alone empties the file first, and the command could read it while it is
    // empty.
    const save = async (text: string) => {
      await writeFile(join(folder, 'saved'), text)
      await rename(join(folder, 'saved'), join(at, 'a.fsl'))
    }
    const complaint = once(child.stderr.setEncoding('utf8'), 'data')
    await save('collection A { x: }\n')
    assert.match(String((await complaint)[0]), /at \S+\/a\.fsl:1/)
    await save('collection A { x: String }\n')
    assert.match((await lines.next()).value as string, /^wrote /)
    assert.match(await readFile(out, 'utf8'), /readonly x: string/)
  } finally {
    child.kill()
    await once(child, 'exit')
  }
})
