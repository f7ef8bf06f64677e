// The npm package as users install it: packed, installed into an empty folder, run as a command and imported by an
// application's test. The file takes more than 20 seconds, because it packs the package and installs it with npm.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { patience } from '../support/patience.ts'
import { repository } from '../support/program.ts'
import { environment, installPacked, run } from './npm.ts'

/** The driver that the page on testing applications installs beside the package. */
const driver = 'faunadb@4.8.2'

/** A test runner with a module loader of its own. */
const jest = 'jest@30'

/** Errors of npm without access to a registry. */
const offline = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED/

const folder = folderOfFile()
let fault: string | undefined
const children: ChildProcess[] = []
const installed = (path: string) => join(folder, 'node_modules', 'terrarium-db', path)

const runHere = (...words: string[]) => run(process.execPath, words, { cwd: folder, env: environment })

before(async () => {
  try {
    await installPacked(folder, ['.', 'client'], [driver, jest])
  } catch (cause) {
    const { stderr } = cause as { readonly stderr?: string }
    if (!offline.test(stderr ?? '')) throw cause
    fault = 'npm cannot reach a registry to install the dependencies'
  }
})

after(() => {
  for (const child of children) child.kill('SIGKILL')
})

test('npm would publish both packages with their versions', async t => {
  if (fault) return t.skip(fault)
  const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  for (const name of ['terrarium-db', 'terrarium-client']) {
    const tarball = join(folder, `${name}-${version}.tgz`)
    const publish = ['publish', '--dry-run', '--json', '--tag', 'next', tarball]
    const { stdout } = await run('npm', publish, { cwd: folder, env: environment })
    assert.ok(stdout.includes(`"${name}@${version}"`), stdout.slice(0, 500))
  }
})

describe('the package as a program', () => {
  test('contains the compiled program, declarations and the dashboard, and nothing else of the repository', async t => {
    if (fault) return t.skip(fault)
    // Folders below `node_modules` of the package are other versions of its dependencies.
    const isOwn = (name: string) => !name.startsWith('node_modules')
    const entries = (await readdir(installed('.'))).filter(isOwn).sort()
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md']
    assert.deepEqual(entries, [...texts, 'bin', 'commonjs', 'dashboard', 'dist', 'package.json'])
    assert.ok((await readdir(installed('dist/types/app'))).includes('index.d.ts'))
    assert.ok((await readdir(installed('dashboard/dist'))).includes('index.html'))
    const files = (await readdir(installed('.'), { recursive: true })).filter(isOwn)
    assert.deepEqual(
      files.filter(name => /\.[cm]?ts$/.test(name) && !/\.d\.[cm]?ts$/.test(name)),
      [],
    )
  })

  test('`terrarium serve` serves', async t => {
    if (fault) return t.skip(fault)
    const program = join(folder, 'node_modules', '.bin', 'terrarium')
    const secret = 'root-secret-of-the-test'
    const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      cwd: folder,
      env: { ...environment, TERRARIUM_ROOT_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    const [line] = (await once(createInterface(child.stdout as Readable), 'line')) as [string]
    const url = line.replace('Terrarium is ready on ', '')
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: '{"add": [1, 2]}',
    })
    assert.deepEqual(await response.json(), { resource: 3 })
    assert.equal((await fetch(`${url}/dashboard/`)).status, 200)
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})

describe('the package in programs', () => {
  test('`createServer` serves from memory and closes', async t => {
    if (fault) return t.skip(fault)
    const script = `
      import { createServer } from 'terrarium-db'
      const server = await createServer()
      const response = await fetch(server.url, {
        method: 'POST',
        headers: { authorization: 'Bearer ' + server.rootSecret },
        body: '{"concat": ["in", "memory"]}',
      })
      console.log(JSON.stringify(await response.json()), server.port === Number(new URL(server.url).port))
      await server.close()
      await fetch(server.url).catch(() => console.log('closed'))
    `
    await writeFile(join(folder, 'embedded.mjs'), script)
    const { stdout } = await runHere('embedded.mjs')
    assert.equal(stdout, '{"resource":"inmemory"} true\nclosed\n')
  })

  test('programs in CommonJS can import it, and misspelt options are rejected', async t => {
    if (fault) return t.skip(fault)
    const script = `
      const { createServer } = require('terrarium-db')
      createServer({ prot: 1 }).catch(error => {
        console.log(error.message)
        return createServer().then(server => server.close()).then(() => console.log('closed'))
      })
    `
    await writeFile(join(folder, 'embedded.cjs'), script)
    const { stderr, stdout } = await runHere('embedded.cjs')
    assert.equal(stdout, 'createServer has no option prot: did you mean port?\nclosed\n')
    assert.equal(stderr, '')
  })

  test('TypeScript finds its types from every kind of module', async t => {
    if (fault) return t.skip(fault)
    const program = `
      import { createServer, type EmbeddedServer } from 'terrarium-db'
      const server: Promise<EmbeddedServer> = createServer({ port: 0 })
      void server
      // @ts-expect-error There is no such option.
      void createServer({ prot: 1 })
    `
    for (const name of ['types.ts', 'types.cts', 'types.mts']) await writeFile(join(folder, name), program)
    const compiler = join(repository, 'node_modules/.bin/tsc')
    const common = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node']
    const roots = ['--typeRoots', join(repository, 'node_modules/@types')]
    for (const options of [
      ['--module', 'nodenext', 'types.ts', 'types.cts', 'types.mts'],
      ['--module', 'commonjs', '--moduleResolution', 'bundler', 'types.cts'],
      ['--module', 'esnext', '--moduleResolution', 'bundler', 'types.ts'],
    ])
      await run(compiler, [...common, ...roots, ...options], { cwd: folder, env: environment })
  })
})

describe('the package in tests of applications', () => {
  test('a Jest test can import it', async t => {
    if (fault) return t.skip(fault)
    const script = `
      const { createServer } = require('terrarium-db')
      test('adds', async () => {
        const server = await createServer()
        const response = await fetch(server.url, {
          method: 'POST',
          headers: { authorization: 'Bearer ' + server.rootSecret },
          body: '{"add": [1, 2]}',
        })
        expect(await response.json()).toEqual({ resource: 3 })
        await server.close()
      })
    `
    await writeFile(join(folder, 'jest.test.cjs'), script)
    const program = join(folder, 'node_modules/jest/bin/jest.js')
    const patienceMs = String(patience(60_000))
    const options = ['--watchman=false', '--testMatch', '**/jest.test.cjs', '--testTimeout', patienceMs]
    const { stderr } = await runHere(program, ...options)
    assert.match(stderr, /^Tests: +1 passed, 1 total$/m)
  })

  test('the example tests of the page on testing applications pass', async t => {
    if (fault) return t.skip(fault)
    const page = await readFile(join(repository, 'docs/testing-applications.md'), 'utf8')
    const examples = [...page.matchAll(/^```js\n(import .*?)^```/gms)].map(([, example = '']) => example)
    assert.equal(examples.length, 2)
    // The example of version 10 pushes the schema of another page, whose code is indented.
    const guide = await readFile(join(repository, 'docs/guides/new-apps.md'), 'utf8')
    const schema = /^`schema\/main\.fsl`:\n\n((?: {4}.*\n|\n)+)/m.exec(guide)?.[1] ?? ''
    await mkdir(join(folder, 'schema'))
    await writeFile(join(folder, 'schema/main.fsl'), schema)
    for (const [at, example] of examples.entries()) {
      const file = `example${at}.test.mjs`
      await writeFile(join(folder, file), example)
      const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap', file], {
        cwd: folder,
        env: { ...environment, NODE_TEST_CONTEXT: undefined },
      })
      assert.match(stdout, /^# pass 1$/m)
      assert.match(stdout, /^# fail 0$/m)
    }
  })
})
