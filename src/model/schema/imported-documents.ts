// Applies the rules of collections to imported documents, which already have ids and times. Old versions are not
// checked, because a collection may have had other rules when a version was written.

import { isStackExhaustion } from '../../base/catch-error.ts'
import type { Memo } from '../../base/pending.ts'
import type { Transaction } from '../../storage/store/store-contract.ts'
import { type DatabaseId, firstUserCollection, type ObjectValue, type Ref } from '../../values/value.ts'
import { callerWith } from '../auth/admission.ts'
import { Failure, type TypeFailure } from '../failure.ts'
import { Session, type SessionHost } from '../session.ts'
import { applyTypes, runChecks } from './collection-rules.ts'
import { faultText } from './fault-texts.ts'

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
   * Returns the fields with defaults for missing fields, or the reason if the document is invalid. `existing`: the
   * stored fields, which are used instead of the defaults, so a repeated import does not change the document. Throws a
   * Pending if a default has to wait for a result. Throws all errors that the document did not cause.
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

  /** The reason if a check constraint fails for a written document. Throws the same errors as {@link complete}. */
  rejection(ref: Ref): string | undefined {
    if (ref.collection < firstUserCollection) return undefined
    return reasonOf(() => runChecks({ mode: 'create', ref, session: this.#session() }))
  }

  /** The limits of a session apply to each document separately. */
  #session(): Session {
    return new Session({
      host: this.#host,
      transaction: this.#transaction,
      caller: callerWith({ kind: 'predicate', database: this.#database }),
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
