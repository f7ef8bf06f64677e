// A choice of the user, such as the colours, that the browser stores.

import { type ReadonlySignal, signal } from '@preact/signals'
import { readStored, store } from '../service/storage.ts'

/** `next` changes to the next choice. */
interface StoredChoice<T> {
  readonly chosen: ReadonlySignal<T>
  readonly next: () => void
}

/** The first of `values` if none is stored. */
export function storedChoice<T extends string>(key: string, values: readonly [T, ...T[]]): StoredChoice<T> {
  const stored = readStored('localStorage', key)
  const chosen = signal(values.find(value => value === stored) ?? values[0])
  const next = () => {
    chosen.value = values[(values.indexOf(chosen.value) + 1) % values.length] ?? values[0]
    store('localStorage', key, chosen.value)
  }
  return { chosen, next }
}
