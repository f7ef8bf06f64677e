// Inserts, replaces or removes a version of a document at a past time. A change at one time concerns the version at
// this time, the previous and the next version, and the index rows that begin or end there. So the cost does not depend
// on the number of the document's versions. A row of an entry spans consecutive versions: the start of the previous
// version's entries and the end of the next version's entries are read from their rows.

import { assert } from '../../base/assert.ts'
import { byteText } from '../../base/byte-text.ts'
import { limits } from '../../base/limits.ts'
import { micros } from '../../base/micros.ts'
import { collectionOf, type Micros, type Ref } from '../../values/value.ts'
import { documentKey, historyKey, historyRange, indexEndedKey, indexEndedRange } from '../keys/keyspace.ts'
import type { Entry } from '../kv/kv-contract.ts'
import type { Overlay } from '../kv/overlay.ts'
import { newestLive, validAt } from './documents.ts'
import { entrySince, withSince } from './entry-records.ts'
import { EntryTimeline } from './entry-timeline.ts'
import { expiryTime, markExpiry } from './expiry-marks.ts'
import { restartDocument } from './index-builder.ts'
import { type IndexTables, isBeingBuilt, type PreparedEntry, type StoredVersion } from './index-tables.ts'
import { encodeVersion, never, ttlOf, versionTime } from './records.ts'
import { minimumValidTime } from './retention.ts'
import { indexesOf, type Rows } from './rows.ts'
import { readFirst } from './snapshot.ts'
import { recordWork } from './sweeper-work.ts'

/** The versions of a document at and around a time. */
interface NearVersions {
  /** The last version before the time. */
  readonly previous: StoredVersion | undefined
  /** The version at exactly this time. */
  readonly present: StoredVersion | undefined
  /** The first version after the time. */
  readonly next: StoredVersion | undefined
}

/**
 * Replaces the version at `ts` by the result of `replace`; undefined removes the version. Updates the action of the
 * next version, and all derived data. Returns whether any row has changed.
 */
export function replaceVersion(
  context: Rows,
  ref: Ref,
  ts: Micros,
  replace: (near: NearVersions) => StoredVersion | undefined,
): boolean {
  const { isNextNewest, ...before } = nearVersions(context, ref, ts)
  const present = replace(before)
  const next = before.next && withActionAfter(present ?? before.previous, before.next)
  const after = { ...before, present, next }
  const old = new Map<string, Entry>()
  const written = new Map<string, Entry>()
  addVersionRows(old, ref, before, isNextNewest)
  addVersionRows(written, ref, after, isNextNewest)
  const { bindingBudget, overlay } = context
  const indexes = indexesOf(context, ref.database, ref.collection)
  for (const index of indexes)
    bindingBudget.perItem(limits.documentBindingsMs, () =>
      addIndexRows(context, index, { before, after, old, written }),
    )
  let isChanged = false
  for (const [text, { key }] of old) {
    if (written.has(text)) continue
    overlay.set(key, undefined)
    isChanged = true
  }
  for (const [text, { key, value }] of written) {
    const earlier = old.get(text)
    if (earlier !== undefined && Buffer.compare(earlier.value, value) === 0) continue
    overlay.set(key, value)
    isChanged = true
  }
  if (!isChanged) return false
  markChanged(context, ref, after)
  for (const { keeps, number } of indexes) if (keeps === 'entries') restartDocument(overlay, ref, ts, number)
  return true
}

/** Returns the action of a version that is not a delete. `previous`: the previous version. `ts`: the version's time. */
export function actionOfVersion(previous: StoredVersion | undefined, ts: Micros): 'create' | 'update' {
  const isLive = previous !== undefined && previous.action !== 'delete' && ttlOf(previous.fields) > ts
  return isLive ? 'update' : 'create'
}

function withActionAfter(previous: StoredVersion | undefined, version: StoredVersion): StoredVersion {
  if (version.action === 'delete') return version
  return { ...version, action: actionOfVersion(previous, version.ts) }
}

/** `isNextNewest`: the next version is stored under the key of the document. */
function nearVersions(
  { reader, snapshot }: Rows,
  ref: Ref,
  ts: Micros,
): NearVersions & { readonly isNextNewest: boolean } {
  const found = validAt(snapshot, ref, ts)
  const isPresent = found !== undefined && versionTime(found) === ts
  const before = ts > Number.MIN_SAFE_INTEGER ? validAt(snapshot, ref, micros(ts - 1)) : undefined
  const earlier = isPresent ? before : found
  const { start } = historyRange(ref)
  const past = readFirst(snapshot, { start, end: historyRange(ref, ts).start, reverse: true })?.value
  const newest = newestLive(snapshot, ref)
  const isNextNewest = past === undefined && newest !== undefined && versionTime(newest) > ts
  const later = isNextNewest ? newest : past
  return {
    previous: earlier && reader.read(ref, earlier),
    present: isPresent ? reader.read(ref, found) : undefined,
    next: later && reader.read(ref, later),
    isNextNewest,
  }
}

function addVersionRows(
  rows: Map<string, Entry>,
  ref: Ref,
  { next, present, previous }: NearVersions,
  isNextNewest: boolean,
): void {
  const versions = [previous, present, next].filter(version => version !== undefined)
  const last = versions.at(-1)
  for (const version of versions) {
    const isNewest = version === last && (version === next ? isNextNewest : version.action !== 'delete')
    const key = isNewest ? documentKey(ref) : historyKey(ref, version.ts)
    rows.set(byteText(key), { key, value: encodeVersion(version, version.ts) })
  }
}

interface RowChange {
  readonly before: NearVersions
  readonly after: NearVersions
  readonly old: Map<string, Entry>
  readonly written: Map<string, Entry>
}

/** Adds the rows of an index that begin or end with one of the versions. */
function addIndexRows(context: Rows, index: IndexTables, { after, before, old, written }: RowChange): void {
  const { overlay } = context
  const { next, present, previous } = before
  const earlier = new EntryTimeline(index)
  if (previous !== undefined) {
    const superseded = (present ?? next)?.ts ?? never
    earlier.resume(previous, entry => startOf(context, index, entry, { ts: previous.ts, superseded }))
  }
  const later = earlier.fork()
  addTimeline(old, earlier, before)
  addTimeline(written, later, after)
  if (next === undefined || index.keeps === 'events') return
  for (const [text, { entry, since }] of later.open) {
    if (earlier.open.get(text)?.since === since) continue
    const row = spanAt(overlay, index, entry, next.ts)
    // During a build, the row may be missing. The build then writes the row with the right time.
    if (row === undefined) continue
    const name = byteText(row.key)
    old.set(name, row)
    written.set(name, { key: row.key, value: withSince(row.value, since) })
  }
}

function addTimeline(
  rows: Map<string, Entry>,
  timeline: EntryTimeline,
  { next, present }: NearVersions,
): void {
  const add = (found: readonly Entry[]) => {
    for (const row of found) rows.set(byteText(row.key), row)
  }
  if (present !== undefined) add(timeline.add(present))
  if (next === undefined) add(timeline.liveRows())
  else add(timeline.add(next))
}

/**
 * Returns the time at which an entry of the version at `ts` was added. `superseded`: the time of the next version;
 * {@link never} if there is none.
 */
function startOf(
  { catalogue, overlay, snapshot }: Rows,
  index: IndexTables,
  entry: PreparedEntry,
  { superseded, ts }: { readonly ts: Micros; readonly superseded: Micros },
): Micros {
  if (index.keeps === 'events') return ts
  const row = spanAt(overlay, index, entry, ts)
  if (row !== undefined) return entrySince(row)
  const { collection, database } = entry.document
  const definition = catalogue.userCollection(database, collection)
  // The sweeper (expired-rows.ts) may have removed some of the entries of an expired version or document.
  const isExpired = Math.min(superseded, entry.ttl) <= minimumValidTime(collection, definition, snapshot.time)
  assert(
    isExpired || index.keeps === 'live' || isBeingBuilt(overlay, index, entry),
    'the entries of a version are in its index',
  )
  return ts
}

/** The row of the entry that existed at `ts`. */
function spanAt(
  overlay: Overlay,
  { keeps }: IndexTables,
  { liveKey, parts }: PreparedEntry,
  ts: Micros,
): Entry | undefined {
  const value = overlay.get(liveKey)
  if (value !== undefined && entrySince({ key: liveKey, value }) <= ts) return { key: liveKey, value }
  if (keeps === 'live') return undefined
  const { length } = indexEndedKey(parts, ts)
  for (const row of overlay.range({ ...indexEndedRange(parts, ts), reverse: true })) {
    // Keys with another length belong to other entries, whose keys begin with the same bytes.
    if (row.key.length === length) return entrySince(row) <= ts ? row : undefined
  }
  return undefined
}

/** Data of a changed version and its neighbors may already have expired. */
function markChanged(
  { commitTime, overlay }: Rows,
  ref: Ref,
  { next, present, previous }: NearVersions,
): void {
  for (const version of [previous, present, next]) {
    if (version === undefined) continue
    markExpiry(overlay, ref, version.ts)
    markExpiry(overlay, ref, expiryTime(ttlOf(version.fields), version.ts))
  }
  recordWork(overlay, 'history', commitTime, collectionOf(ref))
}
