// A continuous backup through the started service, in a folder and in a bucket: set up, destroyed, restored to a moment.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { readStatus } from '../../src/backup/status-file.ts'
import type { ContinuousBackupReport } from '../../src/server/operation/health.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { send, sendFql } from '../support/http.ts'
import { outputOf, runProgram } from '../support/program.ts'
import { S3Bucket } from '../support/s3.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { serviceOfFile } from '../support/service-of-file.ts'

const bucket = serviceOfFile(() => S3Bucket.start())
const folder = folderOfFile()

/** Variables that the SDK reads. */
const bucketEnv = () => ({
  AWS_ACCESS_KEY_ID: bucket.accessKey,
  AWS_SECRET_ACCESS_KEY: bucket.secretKey,
  AWS_REGION: 'us-east-1',
  AWS_ENDPOINT_URL_S3: bucket.endpoint,
})

/** Resolves when the backup has everything that was committed before the call. */
async function backedUp({ data }: ServerProcess, time: number): Promise<void> {
  await eventually('the backup contains the newest commit', () => {
    const { newest_restorable: newest = null } = readStatus(data) ?? {}
    return newest !== null && newest >= time
  })
}

/** Runs a query of version 10; resolves with its value and the time of its transaction. */
async function run(server: ServerProcess, text: string): Promise<{ data: unknown; time: number }> {
  const { json, status, text: answer } = await sendFql(server, server.rootSecret, text)
  assert.equal(status, 200, answer)
  const { data, txn_ts: time } = json as { data: unknown; txn_ts: number }
  return { data, time }
}

for (const kind of ['folder', 'bucket'] as const) {
  test(`a ${kind}: a destroyed data directory is restored to the moment before a mistaken delete`, async () => {
    const target = kind === 'folder' ? join(folder, 'backup') : `s3://${bucket.bucket}/shop`
    const env = kind === 'folder' ? {} : bucketEnv()
    const data = join(folder, `data of ${kind}`)
    const server = await startProcess({ data, flags: ['--backup-to', target, ...withoutSlowLane], env })
    await eventually('there is a base copy', () => (readStatus(data)?.oldest_restorable ?? null) !== null)
    await run(server, 'Collection.create({ name: "items" })')
    await Promise.all(Array.from({ length: 20 }, (_, n) => run(server, `items.create({ n: ${n} })`)))
    const good = await run(server, 'items.create({ n: 20 })')
    const source = (await run(server, 'items.all().eventSource()')).data
    const cursor = ((await run(server, 'items.all().paginate(2)')).data as { after: string }).after
    const bad = await run(server, 'items.all().forEach(item => item.delete())')
    await backedUp(server, bad.time)
    const health = await send(server, { secret: server.rootSecret, method: 'GET', path: '/api/v1/health' })
    const { continuous_backup: report } = health.json as { continuous_backup: ContinuousBackupReport }
    assert.equal(report.state, 'running')
    assert.ok(report.oldest_restorable !== null && report.oldest_restorable <= good.time)
    await server.kill()
    await rm(data, { recursive: true, force: true })
    // The backup process may write its last state after the removal.
    await mkdir(data)
    await writeFile(join(data, 'continuous-backup.json'), '{}')
    const words = ['restore', '--from', target, '--at', String(good.time), '--data', data]
    assert.match(await outputOf(words, env), /: sound\n$/)
    await using restored = await startProcess({ data, flags: withoutSlowLane })
    assert.equal((await run(restored, 'items.all().count()')).data, 21)
    const page = await sendFql(restored, restored.rootSecret, `Set.paginate(${JSON.stringify(cursor)})`)
    assert.equal((page.json as { error?: { code: string } }).error?.code, 'invalid_cursor')
    const body = JSON.stringify({ token: source })
    const feed = await send(restored, { secret: restored.rootSecret, path: '/feed/1', body })
    assert.equal(feed.status, 400)
    await outputOf(['backup', 'verify', '--from', target], env)
  })
}

test('a bucket that cannot be used is named in one sentence', async () => {
  const env = { ...bucketEnv(), AWS_ACCESS_KEY_ID: 'wrong' }
  const wrong = await runProgram(['backup', 'verify', '--from', `s3://${bucket.bucket}/shop`], env)
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /cannot be read: the access key is unknown\n$/)
  const missing = await runProgram(['backup', 'verify', '--from', 's3://nowhere/shop'], bucketEnv())
  assert.match(missing.stderr, /cannot be read: the bucket does not exist\n$/)
})
