// Account keys and export requests within a store that several machines share: under keys of their own, so that every
// machine has them.

import { controlKey, tagRange } from '../keys/keyspace.ts'
import type { Entry, KeyValueStore, View } from '../kv/contract.ts'
import { rethrow } from './unavailable.ts'

/** The rows of a store that belong to no database, as a store of their own. What it refuses is `service unavailable`. */
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
    ready: notBefore => kv.ready?.(notBefore)?.catch(rethrow),
    watch: listener => kv.watch(listener),
    // It belongs to its opener.
    close: () => Promise.resolve(),
  }
}

/** Every row, under the key by which its owner knows it. */
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
