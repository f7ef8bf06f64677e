// Names of the objects of a continuous backup. A restore chooses objects by their names, so no separate index object is
// needed.
//
//   store.json                              the store that is backed up
//   lease.json                              the service that writes
//   bases/GENERATION/BASE.json              a complete base copy
//   parts/GENERATION/BASE/000000 …          the parts of a base copy
//   log/GENERATION/PIECE                    consecutive records of the commit log
//
//   GENERATION: the start time of the generation, then the branch of its log. A generation is a sequence of records
//               without a gap. The branch is the part of the log's name that a restore changes.
//   BASE:       the time of the newest commit in the copy, and the sequence number and checksum of the newest record.
//   PIECE:      the times of its newest and its oldest commit, the sequence numbers of its first and its last record,
//               the checksum of the record before the piece, and the checksum of the last record.
//
// Numbers have 16 decimal digits and checksums 8 hexadecimal digits, so names sort in the order of the log.

import { type Micros, micros } from '../base/micros.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import type { ChainPlace } from '../storage/log/segment.ts'

/** The object with the identity of the store and the format of the backup. */
export const storeObject = 'store.json'
/** The object with the lease of the service that writes. */
export const leaseObject = 'lease.json'
/** Prefix of the objects that mark base copies as complete. */
export const basesPrefix = 'bases/'

/** A base copy: the state of the store after the record at `place`. */
export interface BaseName {
  readonly generation: string
  /**
   * The earliest time that can be restored from this copy: the time of its newest commit or the start of its
   * generation. The later of the two times is used, because the service may have had other data before the start of the
   * generation.
   */
  readonly from: Micros
  /** The time of the newest commit in the copy. */
  readonly time: Micros
  /** The newest record in the copy. */
  readonly place: ChainPlace
}

/** Consecutive records of the log. */
export interface PieceName {
  readonly generation: string
  /** `time`: the time of the newest commit. `since`: the time of the oldest commit. */
  readonly time: Micros
  readonly since: Micros
  /** The sequence number of the first record. */
  readonly first: number
  /** The checksum of the record before the first record. */
  readonly before: number
  /** The last record of the piece. */
  readonly place: ChainPlace
}

/** Number of bytes of the lineage, the first part of a log's name. A restore changes only the later bytes. */
export const lineageBytes = 8

/** Returns the lineage of a store: the part of its log's name that a restore does not change. */
export function lineageOf(log: Bytes): string {
  return Buffer.from(log.subarray(0, lineageBytes)).toString('hex')
}

/** Returns the part of a log's name that a restore changes. */
function branchOf(log: Bytes): string {
  return Buffer.from(log.subarray(lineageBytes)).toString('hex')
}

const digits = (number: number) => String(number).padStart(16, '0')
const checksumText = (checksum: number) => checksum.toString(16).padStart(8, '0')

/** The name of a generation that begins at `time`. `log`: the name of the log. */
export function generationName(time: Micros, log: Bytes): string {
  return `${digits(time)}-${branchOf(log)}`
}

/** Returns whether a generation contains records of the log with the name `log`. */
export function isOfLog(generation: string, log: Bytes): boolean {
  return generation.endsWith(`-${branchOf(log)}`)
}

function baseText({ place, time }: BaseName): string {
  return `${digits(time)}-${digits(place.sequence)}-${checksumText(place.checksum)}`
}

/** The name of the object that marks a base copy as complete. */
export function baseObject(base: BaseName): string {
  return `${basesPrefix}${base.generation}/${baseText(base)}.json`
}

const basePattern = /^bases\/((\d{16})-[^/]+)\/(\d{16})-(\d{16})-([0-9a-f]{8})\.json$/

/** Reads the name of a complete base copy; undefined for other names. */
export function parseBase(name: string): BaseName | undefined {
  const found = basePattern.exec(name)
  if (found === null) return undefined
  const [, generation = '', start, newest, sequence, checksum = ''] = found
  const time = micros(Number(newest))
  const place = { sequence: Number(sequence), checksum: Number.parseInt(checksum, 16) }
  return { generation, from: fromOf(micros(Number(start)), time), time, place }
}

/** The earliest time that can be restored from a base copy, see {@link BaseName.from}. */
export function fromOf(generationStart: Micros, time: Micros): Micros {
  return Math.max(generationStart, time)
}

/** Prefix of the parts of all base copies. */
export const partsPrefix = 'parts/'

/** The name of a part of a base copy. */
export function partObject(base: BaseName, number: number): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/${String(number).padStart(6, '0')}`
}

/** Returns a text that sorts before the names of all parts of a base copy, and after the parts of earlier copies. */
export function partsStart(base: BaseName): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/`
}

/** Prefix of the pieces of all generations. */
export const logPrefix = 'log/'

export const piecesPrefix = (generation: string): string => `${logPrefix}${generation}/`

/**
 * Returns a text that divides the pieces of a generation. The text sorts after the pieces whose newest commit is before
 * `time`, and before all other pieces.
 */
export const piecesStart = (generation: string, time: Micros): string =>
  piecesPrefix(generation) + digits(time)

export function pieceObject({ before, first, generation, place, since, time }: PieceName): string {
  const numbers = [time, since, first, place.sequence].map(digits)
  const checksums = [before, place.checksum].map(checksumText)
  return piecesPrefix(generation) + [...numbers, ...checksums].join('-')
}

const piecePattern = /^log\/([^/]+)\/(\d{16})-(\d{16})-(\d{16})-(\d{16})-([0-9a-f]{8})-([0-9a-f]{8})$/

/** Reads the name of a piece; undefined for other names. */
export function parsePiece(name: string): PieceName | undefined {
  const found = piecePattern.exec(name)
  if (found === null) return undefined
  const [, generation = '', time, since, first, last, before = '', checksum = ''] = found
  return {
    generation,
    time: micros(Number(time)),
    since: micros(Number(since)),
    first: Number(first),
    before: Number.parseInt(before, 16),
    place: { sequence: Number(last), checksum: Number.parseInt(checksum, 16) },
  }
}
