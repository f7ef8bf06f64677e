// Sets of documents: of a collection, or of an index of it. What they hold is read where the data is known (world/stored-sets.ts).

import type { Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import type { Span } from '../syntax/source.ts'
import type { Module } from '../value.ts'
import type { SetItem, SetPosition } from './items.ts'
import { absent, savedTime } from './saved-values.ts'
import { LazySet, type Save } from './set.ts'

/** One end of a range: values of the index, as far as they go, and the document behind all of them. */
export interface StoredBound {
  readonly values: readonly StoredValue[]
  readonly id?: bigint
  /** The last value is an array, with which all arrays agree that begin with its elements. */
  readonly isOpen?: boolean
}

/** Which documents. */
interface StoredSetOptions {
  readonly collection: Module
  /** The name of the index; undefined for all documents of the collection. */
  readonly index: string | undefined
  readonly terms: readonly StoredValue[]
  /** An end that is absent is that of the index. */
  readonly from?: StoredBound | undefined
  readonly to?: StoredBound | undefined
  readonly isReversed: boolean
  /** The time that the set was made as of, within an `at`. */
  readonly at: number | undefined
  /** The argument list of the index's function; absent where a cursor goes on. */
  readonly span?: Span | undefined
  /** The snapshot of the first page, of a set that a cursor has kept. */
  readonly snapshot?: number | undefined
}

/** Documents in the order of their ids or of an index. */
export class StoredSet extends LazySet {
  readonly options: StoredSetOptions
  constructor(options: StoredSetOptions) {
    super()
    this.options = options
  }

  override items(reading: Call, from: SetPosition | undefined): Iterable<SetItem> {
    return reading.evaluation.world.sets.scan(this, from, reading)
  }

  override saved(save: Save): readonly StoredValue[] {
    const { at, collection, from, index, isReversed, terms, to } = this.options
    const bounds = [savedBound(from), savedBound(to)]
    return ['stored', save(collection), index ?? absent, terms, ...bounds, isReversed, savedTime(at)]
  }

  override reversed(): LazySet {
    return new StoredSet({ ...this.options, isReversed: !this.options.isReversed })
  }
}

function savedBound(bound: StoredBound | undefined): StoredValue {
  if (bound === undefined) return absent
  const { id, isOpen, values } = bound
  return isOpen ? [values, id ?? absent, true] : [values, id ?? absent]
}
