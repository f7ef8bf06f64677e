// Wraps a store and replaces some of its operations.

import type { KeyValueStore } from './contract.ts'
import { isReplicated } from './replicated-store.ts'

/** `kv` with some of its operations replaced. */
export function storeOver(kv: KeyValueStore, replaced: Partial<KeyValueStore>): KeyValueStore {
  return {
    read: read => kv.read(read),
    transact: (work, prepare) => kv.transact(work, prepare),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
    ...(isReplicated(kv) && {
      ready: (...given: Parameters<typeof kv.ready>) => kv.ready(...given),
      watchForeign: (listener: Parameters<typeof kv.watchForeign>[0]) => kv.watchForeign(listener),
    }),
    ...replaced,
  }
}
