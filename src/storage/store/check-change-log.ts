// Checks the change record and the change log (change-log.ts):
// - The record contains every retained version since the start of the record.
// - For every recorded write, the version exists, unless the record also contains the removal of this version from the
//   history.
// - For each transaction in the record, the log contains the changed collections. If the transaction is older than the
//   log, the removal of its rows is pending instead.

import { endOfTime, epoch, micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  type Ref,
  refKey,
} from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { collectionChangesRange, tagRange } from '../keys/keyspace.ts'
import { changedCollections, decodePart, readCollectionChanges, recordSince } from './change-log.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import { validAt } from './documents.ts'
import type { StoredVersion } from './index-tables.ts'
import { lastCommit } from './last-commit.ts'
import { versionTime } from './records.ts'
import { firstOf } from './snapshot.ts'
import type { Change } from './store-contract.ts'
import { workOf } from './sweeper-work.ts'

export class ChangeLogCheck {
  readonly #context: CheckContext
  /** The time after which the change record is complete. */
  readonly #begin: Micros
  /** The time of the oldest transaction in the change log. */
  readonly #logBegin: Micros
  /** The time of the newest transaction in the change log. */
  #newest: Micros = epoch
  /** The versions that were inserted into or removed from the past of a document, by reference and time. */
  readonly #rewritten = new Set<string>()
  /** The documents of one collection that one transaction changed: they are often checked consecutively. */
  #recorded: { readonly key: string; readonly names: ReadonlySet<string> } | undefined

  constructor(context: CheckContext) {
    this.#context = context
    const { view } = context.snapshot
    let logBegin: Micros | undefined
    for (const { key } of view.range(tagRange('changes'))) {
      this.#newest = decodeKeyOf('changes', key).ts
      logBegin ??= this.#newest
    }
    this.#logBegin = logBegin ?? endOfTime
    this.#begin = recordSince(view, lastCommit(view).time)
    for (const row of view.range(tagRange('collectionChanges'))) {
      for (const change of decodePart(row).changes) {
        if (change.kind !== 'write') this.#rewritten.add(rewriteName(change.ref, change.validTime))
      }
    }
  }

  /** The record must contain the versions of a document since the start of the record. */
  checkDocument(ref: Ref, versions: readonly StoredVersion[]): void {
    const begin = Math.max(this.#begin, this.#retainedFrom(ref.database, ref.collection))
    for (const { ts } of versions) {
      if (ts <= begin || this.#rewritten.has(rewriteName(ref, ts))) continue
      if (!this.#isRecorded(ref, ts))
        this.#context.report(`${nameRef(ref)} has a version at ${ts} that was not recorded`)
    }
  }

  /** Earlier changes of a collection may have been removed. */
  #retainedFrom(database: DatabaseId, collection: CollectionId): Micros {
    return collection < firstUserCollection
      ? micros(this.#logBegin - 1)
      : Math.min(micros(this.#logBegin - 1), this.#context.minimumOf(database, collection))
  }

  #isRecorded(ref: Ref, ts: Micros): boolean {
    const key = `${ref.database}/${ref.collection}@${ts}`
    if (this.#recorded?.key !== key) {
      const { view } = this.#context.snapshot
      const names = new Set<string>()
      for (const { changes, time } of readCollectionChanges(view, ref.database, ref.collection, ts)) {
        if (time === ts) for (const change of changes) names.add(nameRef(change.ref))
        break
      }
      this.#recorded = { key, names }
    }
    return this.#recorded.names.has(nameRef(ref))
  }

  /** Recorded writes must have versions, and the change log must agree with the change record. */
  checkLog(): void {
    const { report, snapshot } = this.#context
    const { time } = lastCommit(snapshot.view)
    // If the stored time of the last commit were too early, new commits could get times before recorded commits.
    if (time < this.#newest)
      report(
        `the record of the last commit has the time ${time}, but the log has commits up to ${this.#newest}`,
      )
    const logged = this.#checkLogged()
    this.#checkRecorded(logged)
  }

  /**
   * The change record must contain changes of each collection in the log. Returns these collections, each with the time
   * of its transaction.
   */
  #checkLogged(): Set<string> {
    const { databases, catalogue, report, snapshot } = this.#context
    const logged = new Set<string>()
    for (const row of snapshot.view.range(tagRange('changes'))) {
      const { ts } = decodeKeyOf('changes', row.key)
      for (const { collection, database } of changedCollections(row)) {
        logged.add(`${database}/${collection}@${ts}`)
        if (!databases.has(database) || !catalogue.hasCollection(database, collection)) continue
        if (
          firstOf(snapshot.view, collectionChangesRange(database, collection, ts, micros(ts + 1))) ===
          undefined
        )
          report(
            `collection ${collection} of database ${database} does not have the changes of ${ts}, which are in the log`,
          )
      }
    }
    return logged
  }

  #checkRecorded(logged: ReadonlySet<string>): void {
    const { catalogue, databases, onStep, report, snapshot } = this.#context
    const work = workOf(snapshot.view, 'changes')
    const scheduled = new Set(Array.from(work, ({ target }) => `${target.database}/${target.id}`))
    for (const row of snapshot.view.range(tagRange('collectionChanges'))) {
      onStep('recorded changes')
      const { collection, database, ts } = decodeKeyOf('collectionChanges', row.key)
      if (!databases.has(database) || !catalogue.hasCollection(database, collection)) continue
      const collectionName = `${database}/${collection}`
      const isExpected =
        ts >= this.#logBegin ? logged.has(`${collectionName}@${ts}`) : scheduled.has(collectionName)
      if (!isExpected)
        report(
          `the changes of ${ts} of collection ${collection} of database ${database} have no pending removal`,
        )
      for (const change of decodePart(row).changes) {
        if (change.kind === 'write' && this.#mustExist(change) && !this.#exists(change)) {
          report(
            `${nameRef(change.ref)} does not have the version of ${change.validTime}, which is in the change record`,
          )
        }
      }
    }
  }

  #mustExist({ ref, validTime }: Change): boolean {
    if (validTime <= this.#context.minimumOf(ref.database, ref.collection)) return false
    return !this.#rewritten.has(rewriteName(ref, validTime))
  }

  #exists({ ref, validTime }: Change): boolean {
    const { snapshot } = this.#context
    const stored = validAt(snapshot, ref, validTime)
    return stored !== undefined && versionTime(stored) === validTime
  }
}

function rewriteName(ref: Ref, ts: Micros): string {
  return `${refKey(ref)}@${ts}`
}
