// Short ways to write bytes in the tests of the storage engines, and a clock for transactions of one batch.

import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { Bytes, Entry, KeyRange, KeyValueStore, Work, Write } from '../../src/storage/kv/kv-contract.ts'

/** The UTF-8 bytes of a text, or the bytes with these numbers. */
export function bytes(content: string | readonly number[]): Bytes {
  return typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)
}

export function text(value: Bytes | undefined): string | undefined {
  return value && new TextDecoder().decode(value)
}

/** Larger than every key a test writes as text. */
export const top = bytes([0xff, 0xff])

export function put(key: string, value: string): Write {
  return { key: bytes(key), value: bytes(value) }
}

/** A transaction that writes these changes, regardless of the state. */
export function write(...writes: Write[]): () => Work<undefined> {
  return () => ({ result: undefined, writes })
}

/** Entries as `key=value`. */
export function shown(entries: Iterable<Entry>): string[] {
  return Array.from(entries, entry => `${text(entry.key)}=${text(entry.value)}`)
}

/** The entries of a range of text keys, as `key=value`. */
export function list(
  store: KeyValueStore,
  start = '',
  end: string | Bytes = top,
  rest: Partial<KeyRange> = {},
) {
  const range = { start: bytes(start), end: typeof end === 'string' ? bytes(end) : end, ...rest }
  return store.read(view => shown(view.range(range)))
}

/**
 * A monotonic clock that does not advance. Transactions that are added one after the other then form one batch: an engine
 * splits a batch whose transactions arrived over a longer time than the last flush took, for example when the process had
 * to wait for a core.
 */
export const stoppedClock: Clock = { ...systemClock, elapsedMs: () => 0 }

/** A store that rejects transactions while `isFull` returns true. */
export function withFullDisk(store: KeyValueStore, isFull: () => boolean): KeyValueStore {
  return {
    read: read => store.read(read),
    transact: work =>
      isFull() ? Promise.reject(new Error('no space left on device')) : store.transact(work),
    watch: listener => store.watch(listener),
    close: () => store.close(),
  }
}
