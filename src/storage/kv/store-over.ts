// Wraps a store and replaces some of its operations.

import type { KeyValueStore } from './contract.ts'

/** `kv` with some of its operations replaced. */
export function storeOver(kv: KeyValueStore, replaced: Partial<KeyValueStore>): KeyValueStore {
  return {
    read: read => kv.read(read),
    transact: (work, prepare) => kv.transact(work, prepare),
    // The presence of these operations shows that reads may lag behind other machines.
    ...(kv.ready && { ready: (...given) => kv.ready?.(...given) }),
    ...(kv.watchForeign && { watchForeign: listener => kv.watchForeign?.(listener) }),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
    ...replaced,
  }
}
