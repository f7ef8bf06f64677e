// The set of the tokens of a document. The file world/data-world.ts reads its elements.

import type { Ref, Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import type { SetItem, SetPlace } from './items.ts'
import { LazySet } from './lazy-set.ts'
import { absent } from './saved-values.ts'

interface TokenSetOptions {
  readonly document: Ref
  /** The time of the `at` block that created the set, at which the fields of the tokens are read. */
  readonly at: number | undefined
  readonly isReversed: boolean
}

/**
 * The present tokens of a document, in the order of their ids. Contains no elements, because a document may have more
 * tokens than fit into a cursor.
 */
export class TokenSet extends LazySet {
  readonly options: TokenSetOptions
  constructor(options: TokenSetOptions) {
    super()
    this.options = options
  }

  override items(reading: Call, from: SetPlace | undefined): Iterable<SetItem> {
    return reading.evaluation.world.access.tokensOf(this, from, reading)
  }

  override saved(): readonly StoredValue[] {
    const { at, document, isReversed } = this.options
    return ['tokens', document, at === undefined ? absent : BigInt(at), isReversed]
  }

  override reversed(): LazySet {
    return new TokenSet({ ...this.options, isReversed: !this.options.isReversed })
  }
}
