// Reads and claims the target of a continuous backup, and plans a restore to a time. A target contains generations,
// each of which covers a part of the commit log without gaps, with base copies (copies of the data file) and pieces
// (objects with consecutive records of the log).

import { endOfTime, type Micros } from '../base/micros.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { formatMicros } from '../values/time.ts'
import { type LeaseReach, readLease } from './lease.ts'
import { partsOf } from './object-format.ts'
import {
  type BaseName,
  baseObject,
  basesPrefix,
  lineageOf,
  type PieceName,
  parseBase,
  parsePiece,
  partsStart,
  piecesPrefix,
  piecesStart,
  storeObject,
} from './object-names.ts'
import { BackupError, type BackupTarget, IncompleteBackupError } from './target.ts'

const formatVersion = 1
/** Maximum size of an object with JSON. */
const contentBytesMax = 65_536

interface StoreContent {
  readonly format: number
  /** Lineage of the store: the part of its log's name that a restore does not change, in hexadecimal digits. */
  readonly store: string
}

/** Content of the object that marks a base copy as complete. */
interface BaseContent {
  readonly format: number
  readonly parts: number
  /** Bytes of the data file. */
  readonly bytes: number
  /** Name of the log in hexadecimal digits. */
  readonly log: string
}

/** Returns undefined for an empty target. Throws {@link BackupError} for damaged content or a newer format. */
async function readStore(target: BackupTarget): Promise<string | undefined> {
  const object = await target.get(storeObject, contentBytesMax)
  return object === undefined ? undefined : parseContent<StoreContent>(storeObject, object, target).store
}

/** Throws {@link BackupError} when the target contains the backup of another store. */
export async function claimTarget(target: BackupTarget, log: Bytes): Promise<void> {
  const store = lineageOf(log)
  let found = await readStore(target)
  if (found === undefined) {
    const content: StoreContent = { format: formatVersion, store }
    await target.putTagged(storeObject, Buffer.from(JSON.stringify(content)), undefined)
    // Another service may have claimed the target at the same time.
    found = await readStore(target)
  }
  if (found !== store)
    throw new BackupError(
      `${target.name} contains the backup of another store: use another prefix or folder for this service`,
    )
}

export function baseContent(content: Omit<BaseContent, 'format'>): Buffer {
  return Buffer.from(JSON.stringify({ format: formatVersion, ...content } satisfies BaseContent))
}

/** Throws {@link BackupError} when the object is damaged or has a newer format. */
function parseContent<T extends { readonly format: number }>(
  name: string,
  object: Buffer,
  target: BackupTarget,
): T {
  let content: T | null
  try {
    content = JSON.parse(object.toString()) as T | null
  } catch {
    content = null
  }
  if (typeof content?.format !== 'number')
    throw new IncompleteBackupError(`the object ${name} of the backup ${target.name} is damaged`)
  if (content.format !== formatVersion)
    throw new BackupError(`the backup ${target.name} was written by a newer version of Terrarium`)
  return content
}

/** Throws {@link BackupError} for a newer format, and {@link IncompleteBackupError} for a missing or damaged object. */
export async function readBase(target: BackupTarget, base: BaseName): Promise<BaseContent> {
  const name = baseObject(base)
  const object = await target.get(name, contentBytesMax)
  if (object === undefined)
    throw new IncompleteBackupError(`the object ${name} is missing in the backup ${target.name}`)
  const content = parseContent<BaseContent>(name, object, target)
  const { bytes, log, parts } = content
  const isWhole =
    Number.isSafeInteger(bytes) && bytes > 0 && typeof log === 'string' && parts === partsOf(bytes)
  if (!isWhole) throw new IncompleteBackupError(`the object ${name} of the backup ${target.name} is damaged`)
  return content
}

/** Returns the complete base copies, the oldest first. */
export async function listBases(target: BackupTarget): Promise<BaseName[]> {
  const names = await Array.fromAsync(target.list(basesPrefix))
  const bases = names.map(parseBase).filter(base => base !== undefined)
  return bases.sort((left, right) => left.from - right.from)
}

/** Lists the pieces in the order of the log, without pieces whose newest commit is before `time`. */
export async function* listPieces(
  target: BackupTarget,
  generation: string,
  time: Micros,
): AsyncIterable<PieceName> {
  for await (const name of target.list(piecesPrefix(generation), piecesStart(generation, time))) {
    const piece = parsePiece(name)
    if (piece !== undefined) yield piece
  }
}

/** A restore reads the base copy, then the pieces. */
export interface RestorePlan {
  readonly base: BaseName
  readonly pieces: readonly PieceName[]
  /** The time of the restore. Undefined if all commits are applied. */
  readonly at?: Micros
}

/**
 * Plans the restore to the time `at`, or to the newest state. Throws {@link BackupError} if the backup lacks that
 * state.
 */
export async function planRestore(target: BackupTarget, at?: Micros): Promise<RestorePlan> {
  if ((await readStore(target)) === undefined) throw new BackupError(`there is no backup in ${target.name}`)
  const bases = await listBases(target)
  const oldest = bases[0]
  if (oldest === undefined)
    throw new IncompleteBackupError(`the backup ${target.name} has no complete base copy`)
  const base = bases.findLast(({ from }) => at === undefined || from <= at)
  if (base === undefined)
    throw new BackupError(`the oldest time that ${target.name} can restore is ${formatMicros(oldest.from)}`)
  const found: PieceName[] = []
  /** The newest commit time of the listed pieces. */
  let reached = base.time
  let next: PieceName | undefined
  for await (const piece of listPieces(target, base.generation, base.time)) {
    if (piece.place.sequence <= base.place.sequence) continue
    reached = Math.max(reached, piece.time)
    if (at !== undefined && piece.since > at) {
      next = piece
      break
    }
    found.push(piece)
  }
  const { missing, pieces } = chained(base.place, found, next)
  const plan = { base, pieces, ...(at !== undefined && { at }) }
  const last = pieces.at(-1)?.time ?? base.from
  if (missing !== undefined && (at === undefined || at > last)) throw missingRecords(target, missing, last)
  const end = Math.max(reached, base.from)
  if (at === undefined || at > end) await checkReach(target, plan, bases, end)
  return plan
}

/**
 * Checks that no generation lacks a piece between its oldest base copy and its newest piece. Reads only names. Throws
 * {@link IncompleteBackupError}.
 */
export async function checkHistory(target: BackupTarget): Promise<void> {
  const checked = new Set<string>()
  for (const base of await listBases(target)) {
    if (checked.has(base.generation)) continue
    checked.add(base.generation)
    const found = await Array.fromAsync(listPieces(target, base.generation, base.time))
    const { missing, pieces } = chained(base.place, found)
    if (missing !== undefined) throw missingRecords(target, missing, pieces.at(-1)?.time ?? base.from)
  }
}

/**
 * Checks that the objects of the newest state exist; reads only the names of pieces and parts. Throws {@link
 * IncompleteBackupError}.
 */
export async function checkNewest(target: BackupTarget): Promise<void> {
  const { base } = await planRestore(target)
  const { parts } = await readBase(target, base)
  let found = 0
  for await (const _ of target.list(partsStart(base))) found++
  if (found < parts)
    throw new IncompleteBackupError(
      `the backup ${target.name} has only ${found} of the ${parts} parts of its newest base copy`,
    )
}

function missingRecords(target: BackupTarget, first: number, end: Micros): IncompleteBackupError {
  return new IncompleteBackupError(
    `the backup ${target.name} lacks records of the commit log from ${first} on; the newest restorable time before them is ${formatMicros(end)}`,
  )
}

/**
 * Returns the pieces that follow the record `after` without a gap, and the sequence number of the first missing record,
 * if any. `next`: the piece after `found`; records are missing if it does not continue `found`.
 */
function chained(
  after: ChainPlace,
  found: readonly PieceName[],
  next?: PieceName,
): { readonly pieces: readonly PieceName[]; readonly missing?: number } {
  const pieces: PieceName[] = []
  let place = after
  for (const piece of found) {
    // The records were written twice, after an interruption or by a service that had lost its lease.
    if (piece.place.sequence <= place.sequence) continue
    const overlaps = piece.first <= place.sequence
    const follows = piece.first === place.sequence + 1 && piece.before === place.checksum
    if (!overlaps && !follows) {
      // The piece continues other records, of a service that had lost its lease. Another piece may follow `place`.
      if (piece.first === place.sequence + 1) continue
      return { pieces, missing: place.sequence + 1 }
    }
    pieces.push(piece)
    place = piece.place
  }
  if (next !== undefined && next.first > place.sequence + 1) return { pieces, missing: place.sequence + 1 }
  return { pieces }
}

/**
 * Throws if the backup does not cover the time of `plan`, or lacks the newest record that the lease names. `end`: the
 * newest time that the generation of the plan contains. If the plan has a time, the time must be later than `end`.
 */
async function checkReach(
  target: BackupTarget,
  { at, base, pieces }: RestorePlan,
  bases: readonly BaseName[],
  end: Micros,
): Promise<void> {
  const next = bases.find(each => each.from > (at ?? endOfTime) && each.generation !== base.generation)
  if (next !== undefined)
    throw new BackupError(
      `the backup ${target.name} has a gap: it can restore times up to ${formatMicros(end)}, and from ${formatMicros(next.from)} on`,
    )
  const lease = await readLease(target)
  if (!reaches(lease?.newest, base, pieces.at(-1)?.place ?? base.place))
    throw new IncompleteBackupError(
      `the backup ${target.name} lacks its newest objects; the newest restorable time before them is ${formatMicros(end)}`,
    )
  const until = Math.max(end, lease?.until ?? 0)
  if (at !== undefined && at > until)
    throw new BackupError(
      `the newest time that ${target.name} can restore is ${formatMicros(until)}; omit --at to restore the newest state`,
    )
}

/**
 * True if the records up to `place` contain the record `newest` of the lease, or if the lease has no such record. The
 * lease is not renewed after every piece, so `place` may be later than `newest`.
 */
function reaches(newest: LeaseReach['newest'], { generation }: BaseName, place: ChainPlace): boolean {
  if (newest === undefined || generation > newest.generation) return true
  if (generation < newest.generation || place.sequence < newest.sequence) return false
  return place.sequence > newest.sequence || place.checksum === newest.checksum
}
