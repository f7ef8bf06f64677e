// Services and buckets whose pages have no end: an export and the commands of continuous backups end with an error.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTarget } from '../../src/backup/open-target.ts'
import { micros } from '../../src/base/micros.ts'
import { runExport } from '../../src/transfer/exporter.ts'
import type { ExportPage, PagePlace } from '../../src/transfer/read-page.ts'
import { parseJson } from '../../src/values/json.ts'
import { openTestDatabase } from './importing.ts'

const record = {
  kind: 'document',
  collection: 'things',
  ts: 1,
  isHistory: false,
  isDelete: false,
  fields: new Map(),
  size: 0,
} as const

const ended = (after: number, id: bigint): PagePlace => ({ part: 'ended', after: micros(after), id })
const live = (after: bigint | undefined): PagePlace => ({ part: 'live', after })

/** The next page by the number of the page. */
const endless: Readonly<Record<string, (n: number) => ExportPage>> = {
  'the first page again and again': () => ({ records: [{ ...record, id: 1n }], next: live(undefined) }),
  'the same position': () => ({ records: [{ ...record, id: 1n }], next: live(5n) }),
  'empty pages': n => ({ records: [], next: live(BigInt(n)) }),
  'deleted documents again': () => ({ records: [{ ...record, id: 1n }], next: ended(7, 1n) }),
  'live documents after deleted ones': n => ({
    records: [{ ...record, id: 1n }],
    next: n % 2 === 0 ? ended(n, 1n) : live(BigInt(n)),
  }),
}

for (const [name, page] of Object.entries(endless)) {
  test(`an export ends with an error: ${name}`, async t => {
    const database = await openTestDatabase(t)
    await database.connection.query([], parseJson('{"create_database":{"object":{"name":"moved"}}}'))
    await database.ask({ create_collection: { object: { name: 'things' } } })
    let pages = 0
    const connection = { ...database.connection, page: async () => page(pages++) }
    const options = { database: ['moved'], format: 'tagged', fileFormat: 'jsonl', gzip: false } as const
    const progress = { readBytes: 0, totalBytes: 0, documents: 0, phase: '' }
    const exported = runExport(
      connection,
      join(database.folder, 'out'),
      { ...options, history: true, id: '1', collections: ['things'] },
      progress,
    )
    await assert.rejects(exported, /cannot be used: its pages of things do not end/)
    assert.ok(pages < 5)
  })
}

/** The keys of each page of a bucket by the number of the page, and the error. */
const listings: Readonly<Record<string, readonly [keys: (n: number) => readonly string[], error: RegExp]>> = {
  'the same page': [() => ['p/log/1', 'p/log/2'], /is not in order/],
  'empty pages': [() => [], /has no end/],
  'other objects': [n => [`q/${n}`], /does not belong to the backup/],
}

for (const [name, [keys, error]] of Object.entries(listings)) {
  test(`a listing of a bucket ends with an error: ${name}`, async () => {
    let pages = 0
    const bucket = createServer((_, response) => {
      const contents = keys(pages++).map(key => `<Contents><Key>${key}</Key></Contents>`)
      response.setHeader('connection', 'close')
      response.end(
        `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t${pages}</NextContinuationToken>${contents.join('')}</ListBucketResult>`,
      )
    })
    bucket.listen(0, '127.0.0.1')
    await once(bucket, 'listening')
    const settings: Readonly<Record<string, string>> = {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_REGION: 'us-east-1',
    }
    const before = Object.keys(settings).map(key => [key, process.env[key]] as const)
    Object.assign(process.env, settings)
    try {
      const target = await openTarget('s3://b/p')
      await assert.rejects(async () => {
        for await (const _ of target.list('log/'));
      }, error)
      assert.ok(pages < 200)
    } finally {
      for (const [key, value] of before) {
        if (value === undefined) delete process.env[key]
        else process.env[key] = value
      }
      bucket.close()
    }
  })
}
