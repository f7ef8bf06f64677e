// `terrarium dev`: serves, pushes the schema after each change of a file, writes the declarations, and shows errors
// with positions.

import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { Client, fql } from '../../client/src/index.ts'
import { patience } from '../support/patience.ts'
import { program, runProgram, temporaryFolder } from '../support/program.ts'
import { assertSound } from '../support/sound.ts'

let folder: string
let child: ChildProcessWithoutNullStreams
let output = ''

const secret = 'root-secret-of-the-tests'
const at = (...steps: readonly string[]) => join(folder, ...steps)
/** Replaces a file at once: `writeFile` alone empties the file first, and the command could read it while it is empty. */
async function save(name: string, text: string): Promise<void> {
  await writeFile(at('saved'), text)
  await rename(at('saved'), at('schema', name))
}

beforeEach(async () => {
  folder = await temporaryFolder()
  await mkdir(at('schema'))
  output = ''
})

afterEach(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
  await assertSound(at('data'))
  await rm(folder, { recursive: true, force: true })
})

/** Starts the command in the folder. */
function start(...words: readonly string[]): void {
  const env = { ...process.env, TERRARIUM_ROOT_SECRET: secret, TERRARIUM_PASSWORD_COST: '4' }
  const all = [program, 'dev', '--port', '0', '--out', 'schema.ts', ...words]
  child = spawn(process.execPath, all, { cwd: folder, env })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      child.emit('output')
    })
}

/** Waits for the next output that matches; resolves with the match. */
async function seen(pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(output)
    if (match) {
      output = output.slice(match.index + match[0].length)
      return match
    }
    await once(child, 'output')
  }
}

const limited = { timeout: patience(60_000) }

test('schema and declarations follow the files', limited, async () => {
  await save('main.fsl', 'collection Item {\n  name: String\n}\n')
  start('--database', 'shop/test')
  const [, url = ''] = await seen(/ready on (\S+)\n/)
  await seen(/wrote .*schema\.ts/)
  const client = new Client({ url, secret: `${secret}:shop/test:server` })
  await client.query(fql`Item.create({ name: 'tea' })`)
  assert.match(await readFile(at('schema.ts'), 'utf8'), /name: string/)

  await save('more.fsl', 'function twice(n: Int): Number { n * 2 }\n')
  await seen(/Adding function `twice`[\s\S]*wrote .*schema\.ts/)
  assert.equal((await client.query(fql`twice(4)`)).data, 8)
  assert.match(await readFile(at('schema.ts'), 'utf8'), /twice\(n: number\): Long/)

  await save('main.fsl', 'collection Item {\n  name: Strin g\n}\n')
  await seen(/at schema\/main\.fsl:2:/)
  await save('main.fsl', 'collection Item {\n  name: String\n  size: Int\n}\n')
  await seen(/missing from|not present|at schema\/main\.fsl:/)
  assert.equal((await client.query(fql`Item.all().count()`)).data, 1)

  // A renamed collection is a new one, so the push would delete the old one and is not made.
  await save('main.fsl', 'collection Thing {\n  name: String\n}\n')
  await seen(/not pushed: it would delete Item[\s\S]*Removing collection `Item`/)
  assert.equal((await client.query(fql`Item.all().count()`)).data, 1)

  await save('main.fsl', 'collection Item {\n  name: String\n  index byName { terms [.name] }\n}\n')
  await seen(/pushed/)
  await rename(at('schema/more.fsl'), at('schema/renamed.fsl'))
  await seen(/unchanged/)
  assert.equal((await client.query(fql`Item.byName('tea').count()`)).data, 1)
})

test('--delete deletes, and the root database is the default', limited, async () => {
  await save('main.fsl', 'collection Item {}\ncollection Other {}\n')
  start('--delete', '--client', 'fauna')
  const [, url = ''] = await seen(/ready on (\S+)\n/)
  await seen(/wrote .*schema\.ts/)
  assert.match(await readFile(at('schema.ts'), 'utf8'), /from 'fauna'/)
  await save('main.fsl', 'collection Item {}\n')
  await seen(/Removing collection `Other`/)
  await seen(/wrote .*schema\.ts/)
  const client = new Client({ url, secret })
  assert.deepEqual((await client.query(fql`Collection.all().map(.name).toArray()`)).data, ['Item'])
})

test('errors at the start are reported at once', limited, async () => {
  const env = { TERRARIUM_ROOT_SECRET: secret }
  const none = await runProgram(['dev', at('nowhere'), '--data', at('data'), '--port', '0'], env)
  assert.equal(none.status, 1)
  assert.match(none.stderr, /there is no folder/)
  const empty = await runProgram(['dev', at('schema'), '--data', at('data'), '--port', '0'], env)
  assert.match(empty.stderr, /there are no \.fsl files/)
  await save('main.fsl', 'collection Item {}\n')
  start()
  await seen(/pushed/)
  const second = await runProgram(['dev', at('schema'), '--data', at('data'), '--port', '0'], env)
  assert.equal(second.status, 1)
  assert.match(second.stderr, /data/)
})
