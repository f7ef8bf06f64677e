// `fauna schema …` against a running server: push, stage, compare, commit, abandon and pull. The file takes more than
// 20 seconds, because each step is a process of the tool, which takes a second to start.

import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { before, describe, type TestContext, test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { fql, keyOfNewDatabase } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { serverOfFile } from '../support/server.ts'
import { appSchema, collectionNames } from './app-schema.ts'
import { type FaunaShell, type ShellResult, sharedShell } from './shell.ts'

type Files = Readonly<Record<string, string>>

const timeout = patience(300_000)

const server = serverOfFile()
const folder = folderOfFile()
let shell: FaunaShell | undefined
let fault: string | undefined
let databases = 0

before(async () => {
  const fetched = await sharedShell()
  if (typeof fetched === 'string') fault = fetched
  else shell = fetched
})

/** A database with a folder of schema files. */
class Project {
  readonly secret: string
  readonly folder: string

  constructor(secret: string, folder: string) {
    this.secret = secret
    this.folder = folder
  }

  async write(files: Files): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.folder, name)), { recursive: true })
      await writeFile(join(this.folder, name), text)
    }
  }

  /** Runs `fauna schema …`, which must succeed. */
  async schema(words: readonly string[], answer = ''): Promise<string> {
    const { status, stdout, stderr } = await this.attempt(words, answer)
    assert.equal(status, 0, stdout + stderr)
    return stdout
  }

  attempt(words: readonly string[], answer = ''): Promise<ShellResult> {
    const [command = '', ...more] = words
    return (shell as FaunaShell).run(
      server,
      this.secret,
      ['schema', command, '--dir', this.folder, ...more],
      answer,
    )
  }

  query(text: string): Promise<unknown> {
    return fql(server, this.secret, text)
  }
}

async function project(t: TestContext, files: Files = {}): Promise<Project | undefined> {
  if (fault !== undefined) {
    t.skip(fault)
    return undefined
  }
  const name = `schema${databases++}`
  const made = new Project(await keyOfNewDatabase(server, name, 'admin'), join(folder, name))
  await mkdir(made.folder)
  await made.write(files)
  return made
}

describe('fauna schema: push, commit and abandon', { timeout }, () => {
  test('push --active applies at once; status, diff and pull agree with it', async t => {
    const app = await project(t, { 'main.fsl': 'function one() { 1 }\n' })
    if (app === undefined) return
    await app.schema(['push', '--active', '--no-input'])
    assert.equal(await app.query('one()'), 1)
    assert.match(await app.schema(['status']), /Staged changes: none[\s\S]*Local changes: none/)
    assert.match(await app.schema(['diff']), /No schema differences/)
    await app.write({ 'main.fsl': 'function one() { 2 }\n' })
    const status = await app.schema(['status'])
    assert.match(status, /Local changes:\s+\* Modifying function `one` at main\.fsl:1:1/)
    assert.match(await app.schema(['diff', '--active']), /Modifying function `one`[\s\S]*~ change body/)
    const diff = await app.schema(['diff', '--text'])
    assert.match(diff, /- function one\(\) \{ 1 \}\n\+ function one\(\) \{ 2 \}/)
    assert.match(await app.schema(['pull'], 'y\n'), /overwrite: main\.fsl/)
    assert.equal(await readFile(join(app.folder, 'main.fsl'), 'utf8'), 'function one() { 1 }\n')
  })

  test('a plain push asks and stages; commit makes it active', async t => {
    const app = await project(t, { 'main.fsl': 'function one() { 1 }\n' })
    if (app === undefined) return
    await app.schema(['push', '--active', '--no-input'])
    await app.write({ 'main.fsl': 'function one() { 2 }\n' })
    assert.match(await app.schema(['push'], 'y\n'), /Modifying function `one`/)
    assert.equal(await app.query('one()'), 1)
    assert.match(await app.schema(['status']), /Staged changes: ready/)
    assert.match(await app.schema(['diff', '--staged']), /Modifying function `one`[\s\S]*~ change body/)
    assert.match(await app.schema(['commit'], 'y\n'), /Modifying function `one`/)
    assert.equal(await app.query('one()'), 2)
    assert.match(await app.schema(['status']), /Staged changes: none/)
    const { status, stderr } = await app.attempt(['commit'], 'y\n')
    assert.deepEqual([status, /no staged schema/.test(stderr)], [1, true])
  })

  test('abandon discards the staged schema', async t => {
    const app = await project(t, { 'main.fsl': 'function one() { 1 }\n' })
    if (app === undefined) return
    await app.schema(['push', '--active', '--no-input'])
    await app.write({ 'main.fsl': 'function two() { 2 }\n' })
    await app.schema(['push', '--no-input'])
    await app.schema(['abandon', '--no-input'])
    assert.match(await app.schema(['status']), /Staged changes: none/)
    await app.schema(['pull', '--delete'], 'y\n')
    assert.equal(await readFile(join(app.folder, 'main.fsl'), 'utf8'), 'function one() { 1 }\n')
  })

  test('errors are reported with their position', async t => {
    const app = await project(t, { 'main.fsl': 'collection Shelf {\n  a: Nothing\n}\n' })
    if (app === undefined) return
    const { status, stderr } = await app.attempt(['push', '--active', '--no-input'])
    assert.equal(status, 1)
    assert.match(stderr, /Unknown type `Nothing`\nat main\.fsl:2:6/)
  })
})

describe('fauna schema: databases', { timeout }, () => {
  test('twenty collections are pushed, migrated and pulled without changes', async t => {
    const files = appSchema()
    const app = await project(t, files)
    if (app === undefined) return
    await app.schema(['push', '--active', '--no-input'])
    for (const name of collectionNames) await app.query(`${name}.create({ name: "first", size: 7 }).name`)
    const migrated = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [
        name,
        text.replaceAll(/ {2}size: Int = \d+\n[\s\S]*?\n}\n/g, migration),
      ]),
    )
    await app.write(migrated)
    await app.schema(['push', '--no-input'])
    assert.equal(await app.query('Customer.all().first()!.size'), 7)
    await app.schema(['commit', '--no-input'])
    for (const name of collectionNames) {
      assert.deepEqual(await app.query(`${name}.all().map(.data { width, note }).toArray()`), [
        { width: 7, note: 'none' },
      ])
      assert.equal(await app.query(`${name}.byName("first").count()`), 1)
    }
    // The tool does not create folders when it pulls, so the folders stay.
    for (const name of Object.keys(migrated)) await rm(join(app.folder, name))
    await app.schema(['pull'], 'y\n')
    for (const [name, text] of Object.entries(migrated)) {
      assert.equal(await readFile(join(app.folder, name), 'utf8'), text)
    }
    assert.match(await app.schema(['diff']), /No schema differences/)
  })

  test('a root database may be pushed to', async t => {
    if (shell === undefined) return t.skip(fault)
    const root = new Project(server.rootSecret, join(folder, 'root'))
    await mkdir(root.folder)
    await root.write({ 'main.fsl': 'function ofRoot() { 1 }\n' })
    await root.schema(['push', '--active', '--no-input'])
    assert.match(await root.schema(['status']), /Local changes: none/)
    assert.equal(await root.query('ofRoot()'), 1)
  })
})

/** The rest of a collection in which `size` was renamed to `width`, with a new field and the migrations for both. */
function migration(rest: string): string {
  return rest
    .replaceAll('size', 'width')
    .replace(/( {2}width: Int = \d+\n)/, '$1  note: String // new\n')
    .replace(
      /\n}\n$/,
      '\n\n  migrations {\n    move .size -> .width\n    add .note\n    backfill .note = "none"\n  }\n}\n',
    )
}
