// Stopping nodes: in time, even if the database hangs, and not before a load balancer has switched to other nodes. The
// file takes more than 20 seconds, because it starts several nodes, and a shutdown without the database takes seconds.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { send } from '../support/http.ts'
import { describeNodes } from './cluster.ts'

const folder = folderOfFile()
/** The notice of a shutdown, in milliseconds. The test ends it earlier. */
const noticeMs = '60000'

describeNodes('stopping', nodes => {
  for (const workers of ['1', '2'])
    test(`/ping fails first, and ${workers} workers serve other requests for the configured time`, async () => {
      const mark = join(folder, `${workers} are over`)
      const node = await nodes.cluster.start({
        flags: ['--workers', workers, '--shutdown-notice-ms', noticeMs],
        preload: 'notice-end.ts',
        env: { NOTICE_MS: noticeMs, NOTICE_END_MARK: mark },
      })
      const ping = async (scope: string) =>
        (await send(node, { method: 'GET', path: `/ping?scope=${scope}&timeout=60000` })).status
      assert.equal(await ping('read'), 200)
      const stopped = nodes.cluster.stop(node)
      await eventually('/ping fails', async () => (await ping('read')) === 503)
      assert.deepEqual(await Promise.all(['node', 'write', 'all'].map(ping)), [503, 503, 503])
      assert.equal(await nodes.cluster.write(node), 'acknowledged')
      await writeFile(mark, '')
      await stopped
      await assert.rejects(ping('read'))
      await nodes.cluster.check(node.data)
    })

  for (const workers of ['1', '2'])
    test(`a database that does not respond does not prevent the exit of ${workers} workers`, async () => {
      const node = await nodes.cluster.start({
        flags: ['--workers', workers],
        env: { TERRARIUM_STORE_WRITE_WAIT_MS: '600000' },
      })
      assert.equal(await nodes.cluster.write(node), 'acknowledged')
      node.proxy.blackhole(true)
      // Longer than the time that a test waits for the exit of a process.
      const headers = { 'x-query-timeout': '600000' }
      const waiting = Promise.all([nodes.cluster.write(node, headers), nodes.cluster.write(node, headers)])
      await eventually('the database is unavailable', () => node.stderr().includes('is unavailable'))
      await nodes.cluster.stop(node)
      assert.deepEqual(await waiting, ['rejected', 'rejected'])
      assert.equal(await nodes.cluster.write(nodes.a), 'acknowledged')
    })
})
