// Applies the rules of collections to imported documents, which already have ids and times. The history of imported
// documents is not checked, because it may follow older definitions.

import { isStackExhaustion } from '../../base/catch-error.ts'
import type { Memo } from '../../base/pending.ts'
import type { Transaction } from '../../storage/store/store-contract.ts'
import { type DatabaseId, firstUserCollection, type ObjectValue, type Ref } from '../../values/value.ts'
import { Failure, type TypeFailure } from '../failure.ts'
import { Session, type SessionHost } from '../session.ts'
import { applyTypes, runChecks } from './collection-rules.ts'
import { faultText } from './fault-texts.ts'

/** Applies the rules to the documents that one transaction imports. */
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
   * Returns the fields of a document with defaults for missing fields. If the collection rejects the document, returns
   * the reason. A missing field gets the value in `existing` instead of the default, so that a repeated import does not
   * change the document. Throws `Pending`, and errors that end the request.
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

  /**
   * Returns the reason why a check rejects a written document; undefined if all checks accept the document. Throws the
   * same errors as {@link complete}.
   */
  refusal(ref: Ref): string | undefined {
    if (ref.collection < firstUserCollection) return undefined
    return reasonOf(() => runChecks({ mode: 'create', ref, session: this.#session() }))
  }

  /**
   * Returns a new session. Each document has a separate session, so that the costs of one document do not count against
   * the limits of the next document.
   */
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
