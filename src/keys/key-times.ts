// Times within keys, filled in later: a transaction is evaluated before the time of its commit is certain.

import type { Micros } from '../values/value.ts'
import { keyTags, timeBytes } from './keyspace.ts'
import { termsLength } from './terms.ts'

const timeLength = 8
/** Tag, database and collection. */
const collectionPrefixLength = 11
/** Tag, database and index. */
const indexPrefixLength = 13

/** Replaces one time by another in keys that hold it. */
export class KeyTimes {
  readonly #from: Uint8Array
  readonly #to: Uint8Array
  readonly #fromDescending: Uint8Array
  readonly #toDescending: Uint8Array

  constructor(from: Micros, to: Micros) {
    this.#from = timeBytes(from, 'ascending')
    this.#to = timeBytes(to, 'ascending')
    this.#fromDescending = timeBytes(from, 'descending')
    this.#toDescending = timeBytes(to, 'descending')
  }

  /** The key with its time replaced: the same array when it holds none, or another one. */
  replace(key: Uint8Array): Uint8Array {
    switch (key[0]) {
      case keyTags.history:
      case keyTags.indexEnded:
        return replaceAt(key, key.length - timeLength, this.#fromDescending, this.#toDescending)
      case keyTags.indexEvent:
        return replaceAt(key, indexPrefixLength + termsLength(key, indexPrefixLength), this.#from, this.#to)
      case keyTags.changes:
        return replaceAt(key, 1, this.#from, this.#to)
      case keyTags.collectionChanges:
      case keyTags.due:
        return replaceAt(key, collectionPrefixLength, this.#from, this.#to)
      case keyTags.garbage:
        return replaceAt(key, 2, this.#from, this.#to)
      default:
        return key
    }
  }
}

function replaceAt(key: Uint8Array, at: number, from: Uint8Array, to: Uint8Array): Uint8Array {
  for (let index = 0; index < timeLength; index++) if (key[at + index] !== from[index]) return key
  const replaced = key.slice()
  replaced.set(to, at)
  return replaced
}
