// A feed is read by its cursor while clients write, over kill -9 and restarts. It contains every document once, and the
// documents of all acknowledged writes.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { fql, keyOfNewDatabase, send } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

interface Page {
  readonly events: readonly { readonly type: string; readonly data: { readonly '@int': string } }[]
  readonly cursor: string
  readonly has_next: boolean
}

const folder = folderOfFile()
const clients = 4
const roundWrites = 150

for (const flags of [[], ['--workers', '2']]) {
  const name = flags.join(' ') || 'one process'
  test(`a feed loses and repeats no event over crashes (${name})`, async () => {
    const data = join(folder, name)
    let server = await startProcess({ data, flags })
    const secret = await keyOfNewDatabase(server, 'app', 'admin')
    const query = (text: string) => fql(server, secret, text)
    await query('Collection.create({ name: "Jar", history_days: 1 })')
    const token = await query('Jar.all().map(.n).eventSource()')
    const answered = new Set<string>()
    const told: string[] = []
    let cursor: string | undefined
    const readOn = async () => {
      for (let hasNext = true; hasNext; ) {
        const body = { token, page_size: 37, ...(cursor !== undefined && { cursor }) }
        const { json, status, text } = await send(server, {
          secret,
          path: '/feed/1',
          body: JSON.stringify(body),
        })
        assert.equal(status, 200, text)
        const page = json as Page
        told.push(...page.events.map(event => event.data['@int']))
        ;({ cursor, has_next: hasNext } = page)
      }
    }
    let next = 0
    for (let round = 0; round < 2; round++) {
      const enough = answered.size + roundWrites
      const write = async () => {
        while (answered.size < enough) {
          const n = next++
          await query(`Jar.create({ n: ${n} })`)
          answered.add(String(n))
        }
      }
      const writing = Promise.allSettled(Array.from({ length: clients }, write))
      while (answered.size < enough - 20) await readOn()
      await server.kill()
      await writing
      server = await startProcess({ data, flags })
    }
    await readOn()
    assert.equal(new Set(told).size, told.length, 'none twice')
    for (const n of answered) assert.ok(told.includes(n), `${n} is told`)
    assert.equal(await query('Jar.all().count()'), told.length, 'all that is there')
    await server.stop()
    await assertSound(data)
  })
}
