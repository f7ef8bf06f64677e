// Schema files are pushed, or a staged schema is committed, and the process is killed at some moment. Afterwards all
// parts of the schema are from before the change, or all are from after. Acknowledged changes are stored.
// The file takes more than 20 seconds, because each round starts a service again.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { fql, type HttpAnswer, keyOfNewDatabase } from '../support/http.ts'
import { pushFiles, requestSchema } from '../support/schema-files.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()
const items = 20
const rounds = 4

/** The files of a version: every item contains the number of the version, and one item exists only in this version. */
function filesOf(version: number): Readonly<Record<string, string>> {
  const numbers = Array.from({ length: items }, (_, n) => n)
  const collections = numbers.map(
    n => `collection Box${n} {
  first: Int
  since${version}: Int = ${version}
  index by${version} {
    terms [.first]
  }
  migrations {
${n === 0 && version > 0 ? `    move .since${version - 1} -> .since${version}` : '    add .first\n    backfill .first = 0'}
  }
}
`,
  )
  const functions = numbers.map(n => `function version${n}() {\n  ${version}\n}\n`)
  const role = `role only${version} {\n  privileges Box0 {\n    read\n  }\n}\n`
  return {
    'boxes.fsl': collections.join('\n'),
    'functions.fsl': functions.join('\n'),
    [`only${version}.fsl`]: role,
  }
}

/** Asserts that all definitions are of one version, and returns it. */
async function assertWhole(server: ServerProcess, secret: string): Promise<number> {
  const version = Number(await fql(server, secret, 'version0()'))
  const expected = filesOf(version)
  const { files } = (await requestSchema(server, secret, 'files')).json as { files: { filename: string }[] }
  assert.deepEqual(files.map(({ filename }) => filename).toSorted(), Object.keys(expected).toSorted())
  for (const [name, text] of Object.entries(expected)) {
    const { json } = await requestSchema(server, secret, `files/${name}`)
    assert.equal((json as { content: string }).content, text)
  }
  const calls = Array.from({ length: items }, (_, n) => `version${n}()`)
  assert.deepEqual(new Set((await fql(server, secret, `[${calls}]`)) as number[]), new Set([version]))
  assert.deepEqual(await fql(server, secret, 'Role.all().map(.name).toArray()'), [`only${version}`])
  const fields = `Collection.all().map(c => Object.keys(c.fields).concat(Object.keys(c.indexes))).toArray()`
  for (const names of (await fql(server, secret, fields)) as readonly unknown[]) {
    assert.deepEqual(names, ['first', `since${version}`, `by${version}`])
  }
  assert.deepEqual(await fql(server, secret, `Box0.by${version}(7).map(.since${version}).toArray()`), [70])
  return version
}

/** A way to activate a version: its preparation, and the request during which the process is killed. */
interface Way {
  readonly name: string
  readonly prepare: (server: ServerProcess, secret: string, version: number) => Promise<void>
  readonly request: (server: ServerProcess, secret: string, version: number) => Promise<HttpAnswer>
  /** Cleans up after a round in which the version was not activated. */
  readonly abandon: (server: ServerProcess, secret: string) => Promise<void>
}

const ways: readonly Way[] = [
  {
    name: 'a push',
    prepare: async () => undefined,
    request: (server, secret, version) => requestSchema(server, secret, 'update', filesOf(version)),
    abandon: async () => undefined,
  },
  {
    name: 'the commit of a staged schema',
    async prepare(server, secret, version) {
      await pushFiles(server, secret, filesOf(version), 'staged=true')
    },
    request: (server, secret) => requestSchema(server, secret, 'staged/commit', {}),
    async abandon(server, secret) {
      const { json } = await requestSchema(server, secret, 'staged/status')
      assert.equal((json as { status: string }).status, 'ready', 'what was staged is still there')
      assert.equal((await requestSchema(server, secret, 'staged/abandon', {})).status, 200)
    },
  },
]

for (const { abandon, name, prepare, request } of ways) {
  test(`${name} interrupted by a kill takes effect completely or not at all`, async () => {
    const data = join(folder, name)
    let server = await startProcess({ data })
    const secret = await keyOfNewDatabase(server, 'shop', 'admin')
    await pushFiles(server, secret, filesOf(0), '')
    await fql(server, secret, 'Box0.create({ first: 7, since0: 70 })')
    await prepare(server, secret, 1)
    const began = performance.now()
    assert.equal((await request(server, secret, 1)).status, 200)
    const tookMs = performance.now() - began
    let version = await assertWhole(server, secret)
    for (let round = 0; round < rounds; round++) {
      await prepare(server, secret, version + 1)
      const answer = request(server, secret, version + 1).then(
        ({ status }) => status,
        () => undefined,
      )
      await new Promise(resolve => setTimeout(resolve, (tookMs * round) / (rounds - 1)))
      await server.kill()
      const isAnswered = (await answer) === 200
      await assertSound(data)
      server = await startProcess({ data })
      const found = Number(await fql(server, secret, 'version0()'))
      assert.ok(found === version + 1 || (found === version && !isAnswered), `${found} after ${version}`)
      if (found === version) await abandon(server, secret)
      version = await assertWhole(server, secret)
      assert.equal(version, found)
    }
    await server.stop()
    await assertSound(data)
  })
}
