// Computes the rows of a document in the tables of an index, from one version to the next. A row of an entry spans all
// consecutive versions with this entry. So code that reads only some of a document's versions needs the times at which
// the entries of the first of them were added (`EntryTimeline.resume`).

import { byteText } from '../../base/byte-text.ts'
import type { Micros } from '../../values/value.ts'
import type { Entry } from '../kv/kv-contract.ts'
import {
  byKey,
  endedRow,
  entriesOfStored,
  entryRow,
  eventRow,
  type IndexTables,
  type PreparedEntry,
  type StoredVersion,
} from './index-tables.ts'

/** An entry of the last version, and the time at which it was added. */
interface OpenEntry {
  readonly entry: PreparedEntry
  readonly since: Micros
}

export class EntryTimeline {
  readonly #index: IndexTables
  /** The entries of the last version, by the text of their keys. */
  #open: ReadonlyMap<string, OpenEntry> = new Map()

  constructor(index: IndexTables) {
    this.#index = index
  }

  /**
   * Begins after `version` instead of before the first version. `sinceOf`: when an entry of `version` was added, by the
   * entry and its index among the entries of `version`.
   */
  resume(version: StoredVersion, sinceOf: (entry: PreparedEntry, index: number) => Micros): void {
    const entries = [...byKey(entriesOfStored(this.#index, version, version.ts))]
    this.#open = new Map(
      entries.map(([text, entry], index) => [text, { entry, since: sinceOf(entry, index) }]),
    )
  }

  /** Continues after the same versions. */
  fork(): EntryTimeline {
    const fork = new EntryTimeline(this.#index)
    fork.#open = this.#open
    return fork
  }

  /** Returns the rows of the entries that end with this version, and the rows of its events. */
  add(version: StoredVersion): Entry[] {
    const { keeps } = this.#index
    const { ts } = version
    const rows: Entry[] = []
    const after = byKey(entriesOfStored(this.#index, version, ts))
    for (const [text, { entry, since }] of this.#open) {
      if (after.get(text)?.ttl === entry.ttl) continue
      if (keeps === 'entries') rows.push(endedRow(entry, since, ts))
      if (keeps === 'events') rows.push(eventRow(entry, ts, 'remove'))
    }
    const open = new Map<string, OpenEntry>()
    for (const [text, entry] of after) {
      const earlier = this.#open.get(text)
      const isSame = earlier?.entry.ttl === entry.ttl
      open.set(text, isSame ? earlier : { entry, since: ts })
      if (!isSame && keeps === 'events') rows.push(eventRow(entry, ts, 'add'))
    }
    this.#open = open
    return rows
  }

  /** The entries of the last version, by the text of their keys, in the order of the version's entries. */
  get open(): ReadonlyMap<string, OpenEntry> {
    return this.#open
  }

  /** The rows of the last version's entries. */
  liveRows(): Entry[] {
    if (this.#index.keeps === 'events') return []
    return Array.from(this.#open.values(), ({ entry, since }) => entryRow(entry, since))
  }
}

/** Returns the rows by the text of their keys. `versions`: the oldest version comes first. */
export function timelineRows(index: IndexTables, versions: readonly StoredVersion[]): Map<string, Entry> {
  const timeline = new EntryTimeline(index)
  const rows = versions.flatMap(version => timeline.add(version))
  return new Map([...rows, ...timeline.liveRows()].map(row => [byteText(row.key), row]))
}
