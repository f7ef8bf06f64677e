// Names of the objects of a continuous backup. Each name contains what a restore has to know to choose objects, so a listing
// is the index, and no other object has to be rewritten or can contradict the others.
//
//   store.json                              the store whose backup this is
//   lease.json                              the service that writes
//   bases/GENERATION/BASE.json              a complete base copy
//   parts/GENERATION/BASE/000000 …          the parts of a base copy
//   log/GENERATION/PIECE                    consecutive records of the commit log
//
//   GENERATION: time of its start, the log's own part of its name. Its records follow each other without a gap.
//   BASE: time of its newest commit, its newest record, that record's checksum.
//   PIECE:      times of its newest and its oldest commit, its first and its last record, the checksums of the record before
//               it and of its last record.
//
// Numbers have 16 decimal digits (checksums 8 hexadecimal ones), so names are ordered as the log is.

import { type Micros, micros } from '../base/micros.ts'
import type { Bytes } from '../storage/kv/contract.ts'
import type { ChainPlace } from '../storage/kv/log/segment.ts'

/** Which store the backup is of, and its format. */
export const storeObject = 'store.json'
/** The service that writes. */
export const leaseObject = 'lease.json'
/** Begins the names of all complete base copies. */
export const basesPrefix = 'bases/'

/** A base copy: the state of the store after one record. */
export interface BaseName {
  readonly generation: string
  /**
   * The first time that is restored from it: of its newest commit, or of the start of its generation if that is later. A store
   * that was itself restored from an earlier state has older commits, but at their times another history was served.
   */
  readonly from: Micros
  /** The time of its newest commit. */
  readonly time: Micros
  /** Its newest record. */
  readonly place: ChainPlace
}

/** Consecutive records of the log. */
export interface PieceName {
  readonly generation: string
  /** The times of its newest and its oldest commit. */
  readonly time: Micros
  readonly since: Micros
  /** The sequence number of its first record. */
  readonly first: number
  /** The checksum of the record before the first. */
  readonly before: number
  /** Its last record. */
  readonly place: ChainPlace
}

/** Bytes of the name of a log that it shares with the logs of all stores that were restored from its backup. */
export const lineageBytes = 8

/** The lineage of a store: the part of the name of its log that it shares with the stores restored from its backup. */
export function lineageOf(log: Bytes): string {
  return Buffer.from(log.subarray(0, lineageBytes)).toString('hex')
}

function branchOf(log: Bytes): string {
  return Buffer.from(log.subarray(lineageBytes)).toString('hex')
}

const digits = (number: number) => String(number).padStart(16, '0')
const checksumText = (checksum: number) => checksum.toString(16).padStart(8, '0')

/** The name of the generation of a log that begins at `time`. `log`: the name of the log. */
export function generationName(time: Micros, log: Bytes): string {
  return `${digits(time)}-${branchOf(log)}`
}

/** Returns whether a generation has records of the log with that name. */
export function isOfLog(generation: string, log: Bytes): boolean {
  return generation.endsWith(`-${branchOf(log)}`)
}

function baseText({ place, time }: BaseName): string {
  return `${digits(time)}-${digits(place.sequence)}-${checksumText(place.checksum)}`
}

/** The name of the object that makes a base copy complete. */
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

/** The first time that is restored from a base copy, see {@link BaseName.from}. */
export function fromOf(generationStart: Micros, time: Micros): Micros {
  return Math.max(generationStart, time)
}

/** Begins the names of the parts of all base copies. */
export const partsPrefix = 'parts/'

/** The name of a part of a base copy. */
export function partObject(base: BaseName, number: number): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/${String(number).padStart(6, '0')}`
}

/** Less than the names of all parts of a base copy, and greater than those of the copies before it. */
export function partsStart(base: BaseName): string {
  return `${partsPrefix}${base.generation}/${baseText(base)}/`
}

/** Begins the names of the pieces of all generations. */
export const logPrefix = 'log/'

/** Begins the names of the pieces of a generation. */
export const piecesPrefix = (generation: string): string => `${logPrefix}${generation}/`

/** Less than the names of all pieces of a generation that have commits later than `time`, or at it. */
export const piecesStart = (generation: string, time: Micros): string =>
  piecesPrefix(generation) + digits(time)

/** The name of a piece. */
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
