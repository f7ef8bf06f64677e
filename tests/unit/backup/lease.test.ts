// The lease of a backup, with conditional writes in folders and in buckets. The bucket is a small HTTP server, because
// s3rver ignores the headers of conditional writes.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, utimes } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { claimTarget } from '../../../src/backup/catalogue.ts'
import { FolderTarget } from '../../../src/backup/folder-target.ts'
import { Lease, readLease, TargetInUseError } from '../../../src/backup/lease.ts'
import { leaseObject } from '../../../src/backup/object-names.ts'
import { openTarget } from '../../../src/backup/open-target.ts'
import type { BackupTarget } from '../../../src/backup/target.ts'
import { systemTimers, type Timers } from '../../../src/base/timers.ts'
import { foldersOfFile } from '../../support/folder.ts'
import { withMethods } from './backed-store.ts'

const newFolder = foldersOfFile()

/** How the bucket treats the headers of a conditional write. */
type Conditions = 'observes' | 'ignores' | 'rejects'

/** A bucket in memory. */
class Bucket {
  readonly objects = new Map<string, Buffer>()
  readonly server: Server
  conditions: Conditions = 'observes'
  /** True: the next write succeeds, and its connection is closed without a response. */
  losesResponse = false

  constructor() {
    this.server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const key = new URL(request.url ?? '', 'http://bucket').pathname
      const object = this.objects.get(key)
      if (request.method === 'GET') {
        if (object === undefined) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
        else response.writeHead(200, { etag: etagOf(object) }).end(object)
        return
      }
      const { 'if-match': match, 'if-none-match': noMatch } = request.headers
      const isConditional = match !== undefined || noMatch !== undefined
      const isMet =
        (noMatch === undefined || object === undefined) &&
        (match === undefined || (object !== undefined && etagOf(object) === match))
      if (isConditional && this.conditions === 'rejects')
        response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>')
      else if (isConditional && this.conditions === 'observes' && !isMet)
        response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>')
      else {
        const body = Buffer.concat(chunks)
        this.objects.set(key, body)
        if (this.losesResponse) request.socket.destroy()
        else response.writeHead(200, { etag: etagOf(body) }).end()
        this.losesResponse = false
      }
    })
  }
}

function etagOf(object: Buffer): string {
  return `"${createHash('md5').update(object).digest('hex')}"`
}

const bucket = new Bucket()
const savedEnvironment = { ...process.env }

before(async () => {
  await new Promise<void>(resolve => bucket.server.listen(0, '127.0.0.1', resolve))
  const { port } = bucket.server.address() as AddressInfo
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  })
})

after(() => {
  process.env = savedEnvironment
  bucket.server.closeAllConnections()
  bucket.server.close()
})

let prefixes = 0

async function newBucketTarget(conditions: Conditions): Promise<BackupTarget> {
  bucket.conditions = conditions
  return openTarget(`s3://bucket/p${prefixes++}`)
}

const targets = {
  folder: async () => new FolderTarget(newFolder()),
  bucket: () => newBucketTarget('observes'),
}

/** The seconds in which a lease is watched pass at once. */
const timers: Timers = { ...systemTimers, after: (_ms, callback) => systemTimers.after(0, callback) }

/** A target that calls `beforeWrite` between the read of a lease and its write. */
function paused(target: BackupTarget, beforeWrite: () => Promise<unknown>): BackupTarget {
  return withMethods(target, {
    async putTagged(name, bytes, tag) {
      await beforeWrite()
      return target.putTagged(name, bytes, tag)
    },
  })
}

for (const [kind, open] of Object.entries(targets)) {
  test(`only one of two services that find no lease in a ${kind} acquires it`, async () => {
    const target = await open()
    const first = new Lease(target, timers)
    const second = new Lease(
      paused(target, () => first.acquire()),
      timers,
    )
    await assert.rejects(second.acquire(), TargetInUseError)
    await first.renew({ until: 7 })
    assert.equal((await readLease(target))?.until, 7)
  })

  test(`only one of two stores that find an empty ${kind} claims it`, async () => {
    const target = await open()
    const [first, second] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)]
    const other = paused(target, () => claimTarget(target, first))
    await assert.rejects(claimTarget(other, second), /contains the backup of another store/)
    await claimTarget(target, first)
  })

  test(`a lease in a ${kind} that another service takes during a renewal is not renewed`, async () => {
    const target = await open()
    const other = new Lease(target, timers)
    let beforeWrite = async () => {}
    const lease = new Lease(
      paused(target, () => beforeWrite()),
      timers,
    )
    await lease.acquire()
    // The other service watches the lease, and takes it while the holder is paused.
    beforeWrite = () => other.acquire()
    await assert.rejects(lease.renew({ until: 1 }), TargetInUseError)
    await other.renew({ until: 2 })
    assert.equal((await readLease(target))?.until, 2)
  })

  test(`concurrent conditional writes to a ${kind} lose no update`, async () => {
    const target = await open()
    const count = async () => {
      for (let added = 0; added < 20; ) {
        const found = await target.getTagged('count')
        const next = Buffer.from(String(Number(found?.bytes ?? '0') + 1))
        if (await target.putTagged('count', next, found?.tag)) added++
      }
    }
    await Promise.all([count(), count(), count(), count()])
    assert.equal(String(await target.get('count')), '80')
  })
}

test('a damaged lease is replaced', async () => {
  for (const content of ['null', '1', '[]', '{}', '{']) {
    const target = new FolderTarget(newFolder())
    await target.put(leaseObject, Buffer.from(content))
    assert.equal(await readLease(target), undefined)
    await new Lease(target, timers).acquire()
    assert.equal((await readLease(target))?.until, 0)
  }
})

test('a bucket without conditional writes has a lease, too', async () => {
  for (const conditions of ['ignores', 'rejects'] as const) {
    const target = await newBucketTarget(conditions)
    const lease = new Lease(target, timers)
    await lease.acquire()
    await lease.renew({ until: 3 })
    await lease.release({ until: 4 })
    assert.equal((await readLease(target))?.until, 4)
  }
})

test('a renewal whose response is lost succeeds', async () => {
  const target = await newBucketTarget('observes')
  const lease = new Lease(target, timers)
  await lease.acquire()
  bucket.losesResponse = true
  await lease.renew({ until: 5 })
  await lease.renew({ until: 6 })
  assert.equal((await readLease(target))?.until, 6)
})

test('a conditional write to a folder ends the write of a process that was killed', async () => {
  const folder = newFolder()
  const target = new FolderTarget(folder)
  assert.equal(await target.putTagged('x', Buffer.from('1'), undefined), true)
  const tag = (await target.getTagged('x'))?.tag as string
  await target.put(`x.after-${tag}.partial`, Buffer.from('2'))
  assert.equal(await target.putTagged('x', Buffer.from('3'), tag), false)
  const leftover = join(folder, `x.after-${tag}.partial`)
  await utimes(leftover, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000))
  assert.equal(await target.putTagged('x', Buffer.from('3'), tag), false)
  assert.equal(await target.putTagged('x', Buffer.from('3'), tag), true)
  assert.deepEqual([String(await target.get('x')), await readdir(folder)], ['3', ['x']])
})
