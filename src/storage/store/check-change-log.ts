// Checks the record of changes against documents: every retained version made since it begins was recorded, and every
// recorded write has its version, unless that was taken out of history again. The log by time has to name the collections of
// each transaction, and what has fallen out of it must be waiting to be looked at.

import { endOfTime, epoch, micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  type Ref,
} from '../../values/value.ts'
import { decodeKeyOf } from '../keys/key-reader.ts'
import { collectionChangesRange, tagRange } from '../keys/keyspace.ts'
import { decodePart, placesOf, readCollectionChanges, recordSince } from './change-log.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import type { Change } from './contract.ts'
import { validAt } from './documents.ts'
import type { StoredVersion } from './index-tables.ts'
import { lastCommit } from './last-commit.ts'
import { versionTime } from './records.ts'
import { firstOf } from './snapshot.ts'
import { workOf } from './sweeper-work.ts'

export class ChangeLogCheck {
  readonly #context: CheckContext
  readonly #begin: Micros
  /** The oldest transaction in the log by time. */
  readonly #logBegin: Micros
  #newest: Micros = epoch
  /** Versions that were put into the past or taken out of it, by reference and time. */
  readonly #rewritten = new Set<string>()
  /** The transaction looked at last: documents of one transaction often lie together. */
  #recorded: { readonly place: string; readonly names: ReadonlySet<string> } | undefined

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

  /** The versions of a document made since the record begins are in it. */
  checkDocument(ref: Ref, versions: readonly StoredVersion[]): void {
    const begin = Math.max(this.#begin, this.#keptFrom(ref.database, ref.collection))
    for (const { ts } of versions) {
      if (ts <= begin || this.#rewritten.has(rewriteName(ref, ts))) continue
      if (!this.#isRecorded(ref, ts))
        this.#context.report(`${nameRef(ref)} has a version at ${ts} that was not recorded`)
    }
  }

  /** What lies before may have been removed. */
  #keptFrom(database: DatabaseId, collection: CollectionId): Micros {
    return collection < firstUserCollection
      ? micros(this.#logBegin - 1)
      : Math.min(micros(this.#logBegin - 1), this.#context.minimumOf(database, collection))
  }

  #isRecorded(ref: Ref, ts: Micros): boolean {
    const place = `${ref.database}/${ref.collection}@${ts}`
    if (this.#recorded?.place !== place) {
      const { view } = this.#context.snapshot
      const names = new Set<string>()
      for (const { changes, time } of readCollectionChanges(view, ref.database, ref.collection, ts)) {
        if (time === ts) for (const change of changes) names.add(nameRef(change.ref))
        break
      }
      this.#recorded = { place, names }
    }
    return this.#recorded.names.has(nameRef(ref))
  }

  /** Recorded writes have versions, and both orders of the record agree. */
  checkLog(): void {
    const { report, snapshot } = this.#context
    const { time } = lastCommit(snapshot.view)
    // New commits come after the last one that is known; if that is too old, they could come before recorded ones.
    if (time < this.#newest)
      report(`the last commit is said to be at ${time}, the log goes on to ${this.#newest}`)
    const named = this.#checkNamed()
    this.#checkRecorded(named)
  }

  /** The collections that the log names have changes then; returns them with their times. */
  #checkNamed(): Set<string> {
    const { databases, catalogue, report, snapshot } = this.#context
    const named = new Set<string>()
    for (const row of snapshot.view.range(tagRange('changes'))) {
      const { ts } = decodeKeyOf('changes', row.key)
      for (const { collection, database } of placesOf(row)) {
        named.add(`${database}/${collection}@${ts}`)
        if (!databases.has(database) || !catalogue.hasCollection(database, collection)) continue
        if (
          firstOf(snapshot.view, collectionChangesRange(database, collection, ts, micros(ts + 1))) ===
          undefined
        )
          report(
            `collection ${collection} of database ${database} lacks the changes of ${ts} that the log names`,
          )
      }
    }
    return named
  }

  #checkRecorded(named: ReadonlySet<string>): void {
    const { catalogue, databases, looked, report, snapshot } = this.#context
    const work = workOf(snapshot.view, 'changes')
    const awaited = new Set(Array.from(work, ({ target }) => `${target.database}/${target.id}`))
    for (const row of snapshot.view.range(tagRange('collectionChanges'))) {
      looked('recorded changes')
      const { collection, database, ts } = decodeKeyOf('collectionChanges', row.key)
      if (!databases.has(database) || !catalogue.hasCollection(database, collection)) continue
      const place = `${database}/${collection}`
      const isAwaited = ts >= this.#logBegin ? named.has(`${place}@${ts}`) : awaited.has(place)
      if (!isAwaited)
        report(
          `the changes of ${ts} of collection ${collection} of database ${database} will never be removed`,
        )
      for (const change of decodePart(row).changes) {
        if (change.kind === 'write' && this.#mustExist(change) && !this.#exists(change)) {
          report(`${nameRef(change.ref)} lacks the version of ${change.validTime} that was recorded`)
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
  return `${ref.database}/${ref.collection}/${ref.id}@${ts}`
}
