// An attempt with a large read set on one node, while another node writes. Only the keys written since its snapshot are
// read again, so the attempt conflicts if, and only if, these keys are in its read set.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Transaction } from '../../src/storage/store/store-contract.ts'
import type { Ref } from '../../src/values/value.ts'
import { noPostgres } from '../support/postgres.ts'
import {
  createCollection,
  createIndex,
  data,
  definitionOf,
  documentRef,
} from '../unit/storage/store/support.ts'
import { type NodeStore, pairOfFile } from './in-process.ts'

/** More documents than are read again if the written keys are unknown. */
const documents = 24_000
const documentsOfOne = 4_000

describe('contention over nodes', { skip: noPostgres }, () => {
  const nodes = pairOfFile()
  let many: Ref
  let others: Ref
  let index: Ref

  before(async () => {
    ;[many, others, index] = (
      await nodes.a.store.write(transaction => {
        const source = createCollection(transaction, 'many')
        const collection = createCollection(transaction, 'others')
        return [source, collection, createIndex(transaction, 'all_of_many', { source })] as const
      })
    ).result
    for (let from = 0; from < documents; from += documentsOfOne)
      await nodes.a.store.write(transaction => {
        for (let id = from; id < from + documentsOfOne; id++)
          transaction.put(documentRef(many, id), data({ n: 1n }))
      })
    await nodes.b.kv.ready(Number.POSITIVE_INFINITY)
  })

  /** Reads the whole index and writes the number of its entries. */
  function count(transaction: Transaction): number {
    const found = [...transaction.match(definitionOf(transaction, index), [], {})].length
    transaction.put(documentRef(others, 1), data({ found: BigInt(found) }))
    return found
  }

  const insert = (node: NodeStore, collection: Ref, id: number) =>
    node.store.write(transaction => transaction.put(documentRef(collection, id), data({ n: 2n })))

  test('writes of another node outside the read set cause no conflict', async () => {
    const { a, b } = nodes
    const attempt = b.store.attempt(count)
    for (let id = 10; id < 15; id++) await insert(a, others, id)
    // A write of the node itself in between, and another one of the other node.
    await insert(b, others, 20)
    await insert(a, others, 21)
    const outcome = await b.store.commit(attempt)
    assert.notEqual(outcome, 'stale')
    assert.equal(typeof outcome === 'object' && outcome.result, documents)
  })

  test('writes of another node in the read set cause a conflict', async () => {
    const { a, b } = nodes
    const attempt = b.store.attempt(count)
    await insert(a, others, 11)
    await insert(a, many, documents)
    assert.equal(await b.store.commit(attempt), 'stale')
  })
})
