// A feed is read by its cursor while clients write, over kill -9 and restarts. It contains every document once, and the
// documents of all acknowledged writes.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { fql, keyOfNewDatabase, send } from '../support/http.ts'
import { temporaryFolder } from '../support/program.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

interface Page {
  readonly events: readonly { readonly type: string; readonly data: { readonly '@int': string } }[]
  readonly cursor: string
  readonly has_next: boolean
}

const clients = 4
const roundWrites = 150

async function post(server: ServerProcess, secret: string, path: string, body: object): Promise<string> {
  const { status, text } = await send(server, { secret, path, body: JSON.stringify(body) })
  assert.equal(status, 200, text)
  return text
}

for (const flags of [[], ['--workers', '2']]) {
  test(`a feed loses and repeats no event over crashes (${flags.join(' ') || 'one process'})`, async () => {
    const data = await temporaryFolder()
    let server = await startProcess({ data, flags })
    try {
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
          const page = JSON.parse(await post(server, secret, '/feed/1', body)) as Page
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
        await server.stop()
        server = await startProcess({ data, flags })
      }
      await readOn()
      assert.equal(new Set(told).size, told.length, 'none twice')
      for (const n of answered) assert.ok(told.includes(n), `${n} is told`)
      assert.equal(await query('Jar.all().count()'), told.length, 'all that is there')
    } finally {
      await server.stop()
      await assertSound(data)
      await rm(data, { recursive: true, force: true })
    }
  })
}
