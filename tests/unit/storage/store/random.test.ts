// Compares random transactions with a simple model: a map from document to its versions. A failure has its seed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { micros } from '../../../../src/base/micros.ts'
import { tagRange } from '../../../../src/storage/keys/keyspace.ts'
import { printKey } from '../../../../src/storage/keys/printer.ts'
import { openLmdb } from '../../../../src/storage/lmdb/lmdb.ts'
import { Background } from '../../../../src/storage/store/background.ts'
import { type Transaction, WriteRejected } from '../../../../src/storage/store/store-contract.ts'
import { type Ref, rootDatabase, type Value } from '../../../../src/values/value.ts'
import { folderOfFile } from '../../../support/folder.ts'
import { RandomSource } from '../../../support/random-source.ts'
import { seedsToRun } from '../../../support/seeded.ts'
import {
  Bench,
  createCollection,
  createIndex,
  data,
  day,
  documentRef,
  field,
  matchIds,
  second,
} from './support.ts'

const folder = folderOfFile()

interface ModelVersion {
  readonly ts: number
  /** Undefined for a delete. */
  readonly content: Content | undefined
}

interface Content {
  readonly mail: string | undefined
  readonly tags: readonly string[]
  readonly n: bigint
  readonly ttl: number | undefined
}

/** The versions of each document, oldest first. */
class Model {
  readonly documents = new Map<number, ModelVersion[]>()

  set(id: number, ts: number, content: Content | undefined): void {
    const versions = (this.documents.get(id) ?? []).filter(version => version.ts !== ts)
    versions.push({ ts, content })
    this.documents.set(
      id,
      versions.sort((left, right) => left.ts - right.ts),
    )
  }

  remove(id: number, ts: number): void {
    const versions = this.documents.get(id) ?? []
    this.documents.set(
      id,
      versions.filter(version => version.ts !== ts),
    )
  }

  at(id: number, time: number, now: number): Content | undefined {
    const content = this.documents.get(id)?.findLast(version => version.ts <= time)?.content
    return content !== undefined && (content.ttl ?? Number.POSITIVE_INFINITY) > now ? content : undefined
  }

  ids(time: number, now: number, holds: (content: Content) => boolean): bigint[] {
    const ids = [...this.documents.keys()].sort((left, right) => left - right)
    return ids
      .filter(id => {
        const content = this.at(id, time, now)
        return content !== undefined && holds(content)
      })
      .map(BigInt)
  }
}

function fieldsOf(content: Content): Map<string, Value> {
  const fields: Record<string, Value> = { tags: content.tags, n: content.n }
  if (content.mail !== undefined) fields.mail = content.mail
  return data(fields, content.ttl)
}

const documents = 12
const tags = ['a', 'b', 'c']
const mails = ['x', 'y', 'z']

interface Schema {
  readonly items: Ref
  readonly byTag: Ref
  readonly byMail: Ref
}

class Run {
  readonly bench: Bench
  readonly random: RandomSource
  readonly model = new Model()
  readonly background: Background
  readonly times: number[] = []

  /** The number of batches of a build between two transactions. */
  readonly batchesPerStep: number

  /** `isSlow`: each batch of background work ends after the first version. */
  constructor(bench: Bench, seed: number, isSlow: boolean) {
    this.bench = bench
    this.random = new RandomSource(seed)
    this.background = new Background(bench.store, undefined, isSlow ? 0 : undefined)
    // With one version in each batch, writes must not add versions faster than the build reads them.
    this.batchesPerStep = isSlow ? 40 : 1
  }

  async schema(): Promise<Schema> {
    return this.bench.write(transaction => {
      const items = createCollection(transaction, 'items', { history_days: 30n })
      return {
        items,
        byTag: createIndex(transaction, 'by_tag', { source: items, terms: [field('tags')] }),
        byMail: createIndex(transaction, 'by_mail', { source: items, terms: [field('mail')], unique: true }),
      }
    })
  }

  /** An index built over existing documents gives the same results as an index from the start. */
  async replaceIndex(schema: Schema, name: string): Promise<Schema> {
    const byTag = await this.bench.write(transaction => {
      transaction.delete(schema.byTag)
      return createIndex(transaction, name, { source: schema.items, terms: [field('tags')] })
    })
    await this.step(schema)
    while (this.bench.read(transaction => transaction.catalogue.index(byTag)?.active) === false) {
      for (let batch = 0; batch < this.batchesPerStep; batch++) await this.background.runOnce()
      await this.step(schema)
    }
    return { ...schema, byTag }
  }

  content(): Content {
    const { random } = this
    return {
      mail: random.below(3) === 0 ? random.pick(mails) : undefined,
      tags: tags.filter(() => random.below(2) === 0),
      n: BigInt(random.below(3)),
      ttl: random.below(6) === 0 ? this.bench.now + random.below(20) * second : undefined,
    }
  }

  /** Runs a transaction of a few writes, and applies them to the model after the commit. */
  async step({ items }: Schema): Promise<void> {
    const { bench, random, model } = this
    bench.now += random.below(4) * second
    const made = new Map<number, Content | undefined>()
    const past: { id: number; ts: number; content: Content | undefined; remove: boolean }[] = []
    const work = (transaction: Transaction) => {
      made.clear()
      past.length = 0
      for (let count = random.below(4); count >= 0; count--) {
        const id = random.below(documents)
        const ref = documentRef(items, id)
        const dice = random.below(10)
        if (dice < 6) {
          const content = this.content()
          transaction.put(ref, fieldsOf(content))
          made.set(id, content)
        } else if (dice < 8) {
          if (transaction.get(ref) === undefined) continue
          transaction.delete(ref)
          made.set(id, undefined)
        } else if (dice < 9) {
          const ts = transaction.snapshotTime - random.below(30) * second
          const content = random.below(4) === 0 ? undefined : this.content()
          transaction.insertVersion(ref, micros(ts), content && fieldsOf(content))
          past.push({ id, ts, content, remove: false })
        } else {
          const versions = model.documents.get(id) ?? []
          if (versions.length === 0) continue
          const version = random.pick(versions)
          // Versions before the retained history are removed by other rules.
          if (version.ts <= transaction.minimumValidTime(rootDatabase, 1024)) continue
          const action = version.content === undefined ? 'delete' : 'create'
          const removed = transaction.removeVersion(ref, micros(version.ts), action)
          if (removed) past.push({ id, ts: version.ts, content: undefined, remove: true })
        }
      }
    }
    try {
      const ts = await bench.commit(work)
      for (const change of past) {
        if (change.remove) model.remove(change.id, change.ts)
        else model.set(change.id, change.ts, change.content)
      }
      for (const [id, content] of made) model.set(id, ts, content)
      this.times.push(ts)
    } catch (error) {
      assert.ok(error instanceof WriteRejected, String(error))
      assert.equal(error.reason, 'not unique')
    }
  }

  /** Asserts that all reads agree with the model, in the present and the past. */
  compare({ items, byTag, byMail }: Schema): void {
    const { bench, model, random } = this
    bench.read(transaction => {
      const now = transaction.snapshotTime
      const past = this.times.length === 0 ? now : micros(random.pick(this.times) - random.below(2))
      const times = past >= transaction.minimumValidTime(rootDatabase, 1024) ? [undefined, past] : [undefined]
      for (const at of times) {
        const time = at ?? now
        for (let id = 0; id < documents; id++) {
          const expected = model.at(id, time, now)
          const version = transaction.get(documentRef(items, id), at)
          assert.deepEqual(version?.fields, expected && fieldsOf(expected))
        }
        const scan = at === undefined ? {} : { at }
        for (const reverse of [false, true]) {
          const all = model.ids(time, now, () => true)
          const found = transaction.documents(rootDatabase, 1024, { ...scan, reverse })
          const ids = Array.from(found, entry => entry.document.id)
          assert.deepEqual(ids, reverse ? all.reverse() : all)
        }
        for (const tag of tags) {
          const expected = model.ids(time, now, content => content.tags.includes(tag))
          assert.deepEqual(matchIds(transaction, byTag, [tag], at), expected)
        }
        for (const mail of mails) {
          const expected = model.ids(time, now, content => content.mail === mail)
          assert.deepEqual(matchIds(transaction, byMail, [mail], at), expected)
        }
      }
    })
  }
}

/** The rows with the past of user documents. */
function past({ kv }: Bench): string[] {
  const kinds = ['history', 'expiry', 'indexEnded', 'indexEvent'] as const
  const keys = kv.read(view => kinds.flatMap(kind => Array.from(view.range(tagRange(kind)), row => row.key)))
  return keys.map(printKey).filter(text => /\b1024\//.test(text))
}

async function run(bench: Bench, seed: number, steps: number, isSlow = false): Promise<void> {
  const run = new Run(bench, seed, isSlow)
  try {
    let schema = await run.schema()
    for (let step = 0; step < steps; step++) {
      await run.step(schema)
      run.compare(schema)
      if (step % 30 === 29) schema = await run.replaceIndex(schema, `by_tag_${step}`)
      if (step % 40 === 39) {
        bench.now += run.random.below(20) * day
        await run.background.runAll()
        run.compare(schema)
        assert.deepEqual(bench.store.check(), [])
      }
    }
    bench.now += 200 * day
    await run.background.runAll()
    assert.deepEqual(past(bench), [], 'nothing of the past is left when all of it is over')
    await bench.close()
  } catch (error) {
    throw new Error(`seed ${seed}`, { cause: error })
  }
}

for (const seed of seedsToRun([1, 2, 3, 4, 5, 6])) {
  test(`random transactions agree with the model (seed ${seed})`, () => run(new Bench(), seed, 200))
}

for (const seed of seedsToRun([8, 9])) {
  test(`builds agree with the model if each batch ends after one version (seed ${seed})`, () =>
    run(new Bench(), seed, 200, true))
}

test('random transactions agree with the model on a disk', async () => {
  await run(new Bench(openLmdb({ path: folder })), 7, 80)
})
