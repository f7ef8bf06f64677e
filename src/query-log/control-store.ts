// Stores account keys and export requests within a store that several machines share, so that every machine has them.

import { controlKey, tagRange } from '../storage/keys/keyspace.ts'
import type { Entry, KeyValueStore, View } from '../storage/kv/contract.ts'
import { rethrow } from './shared-log.ts'

/** A key-value store over the rows that belong to no database. Store failures become `service unavailable`. */
export function controlRows(kv: KeyValueStore): KeyValueStore {
  return {
    read: read => refusing(() => kv.read(view => read(controlView(view)))),
    transact: work =>
      kv
        .transact(view => {
          const { result, writes } = work(controlView(view))
          return { result, writes: writes.map(({ key, value }) => ({ key: controlKey(key), value })) }
        })
        .catch(rethrow),
    watch: listener => kv.watch(listener),
    // The underlying store is closed by its opener.
    close: () => Promise.resolve(),
  }
}

/** All rows, under the keys of their owner. */
export function allControlRows(view: View): Entry[] {
  return [...withOwnKeys(view.range(tagRange('control')))]
}

function controlView(view: View): View {
  return {
    get: key => view.get(controlKey(key)),
    range: ({ start, end, ...rest }) =>
      withOwnKeys(view.range({ ...rest, start: controlKey(start), end: controlKey(end) })),
  }
}

function* withOwnKeys(rows: Iterable<Entry>): Generator<Entry> {
  for (const { key, value } of rows) yield { key: key.subarray(1), value }
}

function refusing<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    return rethrow(cause)
  }
}
