// Checks the change log against documents: every retained version made since the log begins was logged, and
// every logged write has its version, unless that was taken out of history again.

import { metaKey } from '../keys/keyspace.ts'
import type { Micros, Ref } from '../values/value.ts'
import { readChanges } from './change-log.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import type { Change, CommittedTransaction } from './contract.ts'
import { validAt } from './documents.ts'
import type { StoredVersion } from './index-tables.ts'
import { decodeCommit, versionTime } from './records.ts'

const batchTransactions = 1000

export class ChangeLogCheck {
  readonly #context: CheckContext
  readonly #begin: Micros
  #newest: Micros = 0
  /** Versions that were put into the past or taken out of it, by reference and time. */
  readonly #rewritten = new Set<string>()
  /** The transaction looked at last: documents of one transaction often lie together. */
  #logged: { readonly time: Micros; readonly names: ReadonlySet<string> } | undefined

  constructor(context: CheckContext) {
    this.#context = context
    let begin: Micros | undefined
    for (const { time, changes } of this.#transactions()) {
      begin ??= time
      this.#newest = time
      for (const change of changes) {
        if (change.kind !== 'write') this.#rewritten.add(rewriteName(change.ref, change.validTime))
      }
    }
    this.#begin = begin ?? Number.POSITIVE_INFINITY
  }

  *#transactions(): Generator<CommittedTransaction> {
    let after: Micros | undefined
    for (;;) {
      const batch = readChanges(this.#context.snapshot.view, after, batchTransactions)
      yield* batch
      if (batch.length < batchTransactions) return
      after = batch.at(-1)?.time
    }
  }

  /** New commits come after the last one that is known; if that is too old, they could come before logged ones. */
  #checkLastCommit(): void {
    const { report, snapshot } = this.#context
    const stored = snapshot.view.get(metaKey('last commit'))
    const last = stored === undefined ? 0 : decodeCommit(stored).time
    if (last < this.#newest)
      report(`the last commit is said to be at ${last}, the log goes on to ${this.#newest}`)
  }

  /** The versions of a document made since the log begins are in it. */
  checkDocument(ref: Ref, versions: readonly StoredVersion[]): void {
    for (const { ts } of versions) {
      if (ts < this.#begin || this.#rewritten.has(rewriteName(ref, ts))) continue
      if (!this.#isLogged(ref, ts))
        this.#context.report(`${nameRef(ref)} has a version at ${ts} that was not logged`)
    }
  }

  #isLogged(ref: Ref, ts: Micros): boolean {
    if (this.#logged?.time !== ts) {
      const [transaction] = readChanges(this.#context.snapshot.view, ts - 1, 1)
      const changes = transaction?.time === ts ? transaction.changes : []
      this.#logged = { time: ts, names: new Set(changes.map(change => nameRef(change.ref))) }
    }
    return this.#logged.names.has(nameRef(ref))
  }

  /** Logged writes have versions. */
  checkLog(): void {
    this.#checkLastCommit()
    for (const { changes } of this.#transactions()) {
      for (const change of changes) {
        if (change.kind === 'write' && this.#mustExist(change) && !this.#exists(change)) {
          this.#context.report(
            `${nameRef(change.ref)} lacks the version of ${change.validTime} that was logged`,
          )
        }
      }
    }
  }

  #mustExist({ ref, validTime }: Change): boolean {
    const { catalogue, databases, minimumOf } = this.#context
    if (!databases.has(ref.database) || !catalogue.hasCollection(ref.database, ref.collection)) return false
    if (validTime <= minimumOf(ref.database, ref.collection)) return false
    return !this.#rewritten.has(rewriteName(ref, validTime))
  }

  #exists({ ref, validTime }: Change): boolean {
    const { snapshot } = this.#context
    const stored = validAt(snapshot, ref, validTime)
    return stored !== undefined && versionTime(stored) === validTime
  }
}

function rewriteName(ref: Ref, ts: Micros): string {
  return `${ref.database}/${ref.collection}/${ref.id}@${ts}`
}
