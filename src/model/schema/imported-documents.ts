// Documents that come as they were, with ids and times of their own: they keep to what the definition of their collection
// asks, as documents do that queries write. Their history does not: versions of the past may be of former definitions.

import type { Memo } from '../../base/pending.ts'
import { isStackExhaustion } from '../../base/stack-exhaustion.ts'
import type { Transaction } from '../../storage/store/contract.ts'
import { type DatabaseId, firstUserCollection, type ObjectValue, type Ref } from '../../values/value.ts'
import { Failure, type TypeFailure } from '../failure.ts'
import { Session, type SessionHost } from '../session.ts'
import { applyTypes, runChecks } from './collection-rules.ts'
import { faultText } from './fault-texts.ts'

/** The rules for the documents that one transaction takes over. */
export class ImportedDocuments {
  readonly #host: SessionHost
  readonly #transaction: Transaction
  readonly #database: DatabaseId
  readonly #memo: Memo

  constructor(host: SessionHost, transaction: Transaction, database: DatabaseId, memo: Memo) {
    this.#host = host
    this.#transaction = transaction
    this.#database = database
    this.#memo = memo
  }

  /**
   * The fields of a document with the defaults of what they leave out, or why the collection does not take them. What
   * `existing` has in its place is kept: a document that is imported again stays the same. Throws `Pending` and what ends
   * a request.
   */
  complete(
    ref: Ref,
    given: ObjectValue,
    existing: ObjectValue | undefined,
  ): ObjectValue | { readonly reason: string } {
    if (ref.collection < firstUserCollection) return given
    const fields = new Map(given)
    const typeFailures: TypeFailure[] = []
    const session = this.#session()
    const reason = reasonOf(() =>
      applyTypes({ mode: 'create', ref, patch: given, fields, typeFailures, session }, existing?.get('data')),
    )
    if (reason !== undefined) return { reason }
    return typeFailures.length === 0
      ? fields
      : { reason: faultText({ kind: 'mistyped', failures: typeFailures }) }
  }

  /** Why the checks do not let a document pass that has been written; undefined when they do. Throws as {@link complete}. */
  refusal(ref: Ref): string | undefined {
    if (ref.collection < firstUserCollection) return undefined
    return reasonOf(() => runChecks({ mode: 'create', ref, session: this.#session() }))
  }

  /** A session for each: what one document costs is not taken from the next one's limits. */
  #session(): Session {
    return new Session({
      host: this.#host,
      transaction: this.#transaction,
      caller: {
        database: this.#database,
        authority: { kind: 'predicate', database: this.#database },
        identity: undefined,
        credential: undefined,
      },
      dialect: '10',
      memo: this.#memo,
      deadline: Number.POSITIVE_INFINITY,
    })
  }
}

function reasonOf(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isStackExhaustion(error)) return 'Evaluating a default or a check nests too deep.'
    if (!(error instanceof Failure)) throw error
    return error.faults.map(faultText).join(', ')
  }
}
