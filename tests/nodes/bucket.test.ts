// Query logs of nodes with a bucket. The chunks of all nodes are in the bucket, and an export from any node contains
// the requests of all nodes, even after a node and its disk are lost.

import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { download, exported, finished, type LogRecord, requestExport } from '../query-log/log-client.ts'
import { send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { S3Bucket } from '../support/s3.ts'
import { Cluster, type Node } from './cluster.ts'

test('log segments of all nodes are in the bucket, and exports read them', {
  skip: noPostgres,
}, async () => {
  await using postgres = await PostgresServer.start()
  await using s3 = await S3Bucket.start()
  await using cluster = new Cluster(postgres)
  const start = () => cluster.start({ flags: s3.flags(), env: s3.env })
  const ask = async (node: Node, mark: string) => {
    const headers = { 'x-fauna-tags': `mark=${mark}` }
    for (let count = 0; count < 3; count++)
      assert.equal((await send(node, { secret: node.rootSecret, query: 1, headers })).status, 200)
  }
  const marksOf = (records: readonly LogRecord[]) =>
    records
      .map(record => (record.TAGS as { mark?: string }).mark)
      .filter(mark => mark !== undefined)
      .toSorted()
  const segments = () => s3.names().filter(name => name.startsWith('segments/'))
  const [a, b] = await Promise.all([start(), start()])
  await ask(a, 'on_a')
  await ask(b, 'on_b')
  const { request_id: id } = await requestExport(b, b.rootSecret, { region_group: 'us-std' })
  const end = await finished(b, b.rootSecret, id)
  assert.equal(end.state, 'Complete', b.stderr())
  assert.ok((end.presigned_url as string).startsWith(`${s3.endpoint}/${s3.bucket}/`))
  const both = ['on_a', 'on_a', 'on_a', 'on_b', 'on_b', 'on_b']
  assert.deepEqual(marksOf(await download(end.presigned_url)), both)
  const rows = await postgres.query(`SELECT body FROM "${cluster.schema}".log_chunk`)
  assert.ok(rows.length >= 2 && rows.every(({ body }) => body === null), 'the store itself contains no chunk')
  assert.equal(segments().length, rows.length)

  // The chunks survive the node that recorded them.
  await cluster.kill(a)
  await rm(a.data, { recursive: true })
  const c = await start()
  assert.deepEqual(marksOf(await exported(c, c.rootSecret, { region_group: 'us-std' })), both)
  await cluster.stop(c)
})
