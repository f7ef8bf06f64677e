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
// Times and sequence numbers have 16 decimal digits and checksums 8 hexadecimal digits, so names sort in the order of
// the log.

import { type Micros, micros } from '../base/micros.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'
import type { ChainPlace } from '../storage/log/segment.ts'

export const storeObject = 'store.json'
export const leaseObject = 'lease.json'
/** Objects with this prefix mark base copies as complete. */
export const basesPrefix = 'bases/'

/** Names a base copy: the state of the store after the record at `place`. */
export interface BaseName {
  readonly generation: string
  /**
   * Earliest time that can be restored from this copy: the time of its newest commit, or the start of its generation if
   * that is later, because the service may have had other data before.
   */
  readonly from: Micros
  /** Time of the newest commit in the copy. */
  readonly time: Micros
  readonly place: ChainPlace
}

/** Names consecutive records of the log. */
export interface PieceName {
  readonly generation: string
  /** `time`: of the newest commit. `since`: of the oldest commit. */
  readonly time: Micros
  readonly since: Micros
  /** Sequence number of the first record. */
  readonly first: number
  /** Checksum of the record before the first record. */
  readonly before: number
  /** The last record. */
  readonly place: ChainPlace
}

/** The lineage is the first part of a log's name. A restore changes only the later bytes. */
export const lineageBytes = 8

/** Identifies a store, also after a restore. */
export function lineageOf(log: Bytes): string {
  return Buffer.from(log.subarray(0, lineageBytes)).toString('hex')
}

function branchOf(log: Bytes): string {
  return Buffer.from(log.subarray(lineageBytes)).toString('hex')
}

const digits = (number: number) => String(number).padStart(16, '0')
const checksumText = (checksum: number) => checksum.toString(16).padStart(8, '0')

export function generationName(time: Micros, log: Bytes): string {
  return `${digits(time)}-${branchOf(log)}`
}

export function belongsToLog(generation: string, log: Bytes): boolean {
  return generation.endsWith(`-${branchOf(log)}`)
}

function baseText({ place, time }: BaseName): string {
  return `${digits(time)}-${digits(place.sequence)}-${checksumText(place.checksum)}`
}

export function baseObject(base: BaseName): string {
  return `${basesPrefix}${base.generation}/${baseText(base)}.json`
}

const basePattern = /^bases\/((\d{16})-[^/]+)\/(\d{16})-(\d{16})-([0-9a-f]{8})\.json$/

export function parseBase(name: string): BaseName | undefined {
  const found = basePattern.exec(name)
  if (found === null) return undefined
  const [, generation = '', start, newest, sequence, checksum = ''] = found
  const time = micros(Number(newest))
  const place = { sequence: Number(sequence), checksum: Number.parseInt(checksum, 16) }
  return { generation, from: fromOf(micros(Number(start)), time), time, place }
}

/** See {@link BaseName.from}. */
export function fromOf(generationStart: Micros, time: Micros): Micros {
  return Math.max(generationStart, time)
}

export const partsPrefix = 'parts/'

export function partObject(base: BaseName, number: number): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/${String(number).padStart(6, '0')}`
}

/** Sorts before the names of all parts of a base copy, and after the parts of earlier copies. */
export function partsStart(base: BaseName): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/`
}

export const logPrefix = 'log/'

export const piecesPrefix = (generation: string): string => `${logPrefix}${generation}/`

/** Sorts after the pieces whose newest commit is before `time`, and before all other pieces. */
export const piecesStart = (generation: string, time: Micros): string =>
  piecesPrefix(generation) + digits(time)

export function pieceObject({ before, first, generation, place, since, time }: PieceName): string {
  const numbers = [time, since, first, place.sequence].map(digits)
  const checksums = [before, place.checksum].map(checksumText)
  return piecesPrefix(generation) + [...numbers, ...checksums].join('-')
}

const piecePattern = /^log\/([^/]+)\/(\d{16})-(\d{16})-(\d{16})-(\d{16})-([0-9a-f]{8})-([0-9a-f]{8})$/

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
