// Helpers for store tests: a store in memory with a clock that the test sets, and short ways to create schema.

import assert from 'node:assert/strict'
import { micros } from '../../../../src/base/micros.ts'
import { Memo, Pending } from '../../../../src/base/pending.ts'
import { tagRange } from '../../../../src/storage/keys/keyspace.ts'
import type { Entry, KeyValueStore, Write } from '../../../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../../../src/storage/kv/memory.ts'
import type { IndexDefinition } from '../../../../src/storage/store/index-definition.ts'
import { Store } from '../../../../src/storage/store/store.ts'
import type { StoreHooks, Transaction, Version } from '../../../../src/storage/store/store-contract.ts'
import { native, Ref, rootDatabase, Time, type Value } from '../../../../src/values/value.ts'

export const second = 1_000_000
export const day = 86_400 * second

/** A store and its clock. */
export class Bench {
  now = 1_700_000_000 * second
  readonly kv: KeyValueStore
  readonly store: Store

  constructor(kv: KeyValueStore = openMemory(), hooks: Partial<StoreHooks> = {}) {
    this.kv = kv
    this.store = new Store(kv, {
      clock: () => micros(this.now),
      hooks: { evaluateBinding: () => undefined, ...hooks },
    })
  }

  /** Another process over the same data. */
  another(worker = 0): Store {
    return new Store(this.kv, {
      clock: () => micros(this.now),
      hooks: { evaluateBinding: () => undefined },
      worker,
    })
  }

  /** Writes like the engine, with waits for pending results. */
  async write<T>(work: (transaction: Transaction) => T): Promise<T> {
    try {
      return (await this.store.write(work)).result
    } catch (error) {
      if (!(error instanceof Pending)) throw error
      await new Memo().resolve(error)
      return this.write(work)
    }
  }

  /** Writes and returns the commit time. */
  async commit(work: (transaction: Transaction) => unknown): Promise<number> {
    return (await this.store.write(work)).time
  }

  /** Writes a document in its own transaction, and returns the commit time. */
  put(ref: Ref, fields: Map<string, Value>): Promise<number> {
    return this.commit(transaction => transaction.put(ref, fields))
  }

  insertVersion(ref: Ref, at: number, fields: Map<string, Value> | undefined): Promise<number> {
    return this.commit(transaction => transaction.insertVersion(ref, micros(at), fields))
  }

  /** Deletes a document in its own transaction, and returns the commit time. */
  delete(ref: Ref): Promise<number> {
    return this.commit(transaction => transaction.delete(ref))
  }

  createCollection(name: string, fields?: Record<string, Value>): Promise<Ref> {
    return this.write(transaction => createCollection(transaction, name, fields))
  }

  createIndex(name: string, spec: IndexSpec): Promise<Ref> {
    return this.write(transaction => createIndex(transaction, name, spec))
  }

  read<T>(work: (transaction: Transaction) => T): T {
    return this.store.read(work).result
  }

  rows(table: Parameters<typeof tagRange>[0]): Entry[] {
    return this.kv.read(view => [...view.range(tagRange(table))])
  }

  /** Changes stored rows, and so damages the data. */
  writeRows(writes: readonly Write[]): Promise<void> {
    return this.kv.transact(() => ({ result: undefined, writes }))
  }

  isActive(index: Ref): boolean {
    return this.read(transaction => transaction.catalogue.index(index)?.active === true)
  }

  get(ref: Ref, at?: number): Version | undefined {
    return this.read(transaction => transaction.get(ref, at))
  }

  /** Ids of the documents that an index has for some terms. */
  matchIds(index: Ref, terms: Value[], at?: number): bigint[] {
    return this.read(transaction => matchIds(transaction, index, terms, at))
  }

  /** Ends a test: asserts that the stored data is consistent. `await using` calls it at the end of the test. */
  async close(): Promise<void> {
    assert.deepEqual(this.store.check(), [])
    await this.store.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

export function collectionRef(number: number): Ref {
  return new Ref(rootDatabase, native.collections, BigInt(number))
}

export function documentRef(collection: Ref, id: bigint | number): Ref {
  return new Ref(collection.database, Number(collection.id), BigInt(id))
}

export function object(fields: Record<string, Value>): Map<string, Value> {
  return new Map(Object.entries(fields))
}

/** Fields of a document with that `data`. */
export function data(fields: Record<string, Value>, ttl?: number): Map<string, Value> {
  const document = object({ data: object(fields) })
  if (ttl !== undefined) document.set('ttl', timeOf(ttl))
  return document
}

export function timeOf(micros: number): Time {
  return new Time(BigInt(Math.floor(micros / second)), (micros % second) * 1000)
}

export function createCollection(
  transaction: Transaction,
  name: string,
  fields: Record<string, Value> = {},
): Ref {
  const id = transaction.nextSchemaId(rootDatabase, native.collections)
  const ref = new Ref(rootDatabase, native.collections, id)
  transaction.put(ref, object({ name, ...fields }))
  return ref
}

export interface IndexSpec {
  readonly source: Value
  readonly terms?: readonly Value[]
  readonly values?: readonly Value[]
  readonly unique?: boolean
  readonly active?: boolean
}

export function createIndex(transaction: Transaction, name: string, spec: IndexSpec): Ref {
  const id = transaction.nextSchemaId(rootDatabase, native.indexes)
  const ref = new Ref(rootDatabase, native.indexes, id)
  transaction.put(ref, object({ active: false, name, ...(spec as unknown as Record<string, Value>) }))
  return ref
}

/** A term or value of an index: a field below `data`. */
export function field(path: string, options: Record<string, Value> = {}): Value {
  return object({ field: ['data', ...path.split('.')], ...options })
}

export function definitionOf(transaction: Transaction, index: Ref): IndexDefinition {
  const definition = transaction.catalogue.index(index)
  assert(definition, 'the index exists')
  return definition
}

/** Ids of the documents that an index has for some terms. */
export function matchIds(transaction: Transaction, index: Ref, terms: Value[], at?: number): bigint[] {
  const scan = at === undefined ? {} : { at: micros(at) }
  return Array.from(
    transaction.match(definitionOf(transaction, index), terms, scan),
    entry => entry.document.id,
  )
}
