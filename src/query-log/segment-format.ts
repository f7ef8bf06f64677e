// The format of a segment (a file of the query log). A segment can be read without any other file:
//
//     {"queryLog":1,"regionGroup":"us-std"}   the version of the format, and the region group of all records
//     block, block, block, …                  records and their texts, with a checksum
//
// A block consists of a head and frames. A frame is a text or a record. Texts that repeat, such as the shape of a query
// or the name of a database, are written once, before the first record that uses them. Records refer to texts by number,
// counted from 1 in each section. A section is a run of blocks of about a megabyte, so the tables of texts stay small in
// the writer and in readers, and damage to a block affects only its section.
//
//     head      checksum, and the numbers in `headAt`, little-endian
//     text      0x80, its length in bytes, UTF-8
//     record    flags, milliseconds since the previous record of the block (or since the Unix epoch), and the fields
//               that record-writer.ts writes in order
//
// Lengths and fields are variable-length integers: seven bits in each byte, the lowest first, the eighth bit set if
// another byte follows. No frame begins with 0, so a file that ends with zeros after a power failure has no more frames.

import { crc32 } from 'node:zlib'

/** The version of the format. Programs reject segments of any other version. */
const formatVersion = 1

/** The first bytes of each block. */
export const blockMagic = Buffer.from('TLB\x01', 'latin1')

/** Offsets of the numbers in the head of a block, in bytes. The checksum covers everything after itself. */
export const headAt = {
  checksum: 4,
  /** Bytes of the block, with its head. */
  length: 8,
  records: 12,
  /** Identifies the block's section within the segment. */
  section: 16,
  /** Number of texts in earlier blocks of the section. */
  texts: 20,
} as const

/** Bytes of the head of a block. */
export const headBytes = 24

/** Blocks of more bytes are damaged. Texts of requests are limited, so real blocks are much shorter. */
export const blockBytesMax = 16_777_216

/** The first byte of a text. */
export const textFrame = 0x80

/** Bits in the first byte of a record. Each bit but the first says that the record has a property or a field. */
export const recordFlag = {
  isRecord: 0x01,
  isSlow: 0x02,
  commitTime: 0x04,
  fault: 0x08,
  rateLimits: 0x10,
  tags: 0x20,
} as const

/**
 * The text headers that are logged: the key in REQUEST_HEADERS, and the name of the header. The headers of a record begin
 * with a bit for each present header, in this order, then {@link numericHeaders}.
 */
export const textHeaders = [
  ['x_forwarded_for', 'x-forwarded-for'],
  ['user_agent', 'user-agent'],
  ['runtime_env', 'x-runtime-environment'],
  ['runtime_env_os', 'x-runtime-environment-os'],
  ['runtime_nodejs_env', 'x-nodejs-version'],
  ['driver_env', 'x-driver-env'],
] as const

/** The numeric headers that are logged. All other headers are never logged. */
export const numericHeaders = [
  ['x_max_retries', 'x-max-retries-on-contention'],
  ['x_query_timeout', 'x-query-timeout'],
  ['last_seen_txn', 'x-last-seen-txn'],
] as const

/**
 * The first number of a numeric header. `invalid`: the header contains no integer. `text`: the number of a text with the
 * integer follows. Otherwise, the integer is stored plus `first`.
 */
export const numericHeader = { invalid: 0, text: 1, first: 2 } as const

/** Trace id and span id, the last field of a record, in bytes. */
export const traceBytes = 24
export const traceIdBytes = 16

export function segmentHead(regionGroup: string): Buffer {
  return Buffer.from(`${JSON.stringify({ queryLog: formatVersion, regionGroup })}\n`)
}

/**
 * Returns the region group in the first line of a segment; undefined if the line is damaged. Throws for another version
 * of the format: a reader that skipped the segment would return incomplete results.
 */
export function regionGroupIn(line: string, path: string): string | undefined {
  let head: { readonly queryLog?: unknown; readonly regionGroup?: unknown }
  try {
    head = JSON.parse(line)
  } catch {
    return undefined
  }
  const { queryLog, regionGroup } = head
  if (typeof queryLog !== 'number' || typeof regionGroup !== 'string') return undefined
  if (queryLog !== formatVersion)
    throw new Error(
      `${path} has version ${queryLog} of the query log's format; this program knows version ${formatVersion}`,
    )
  return regionGroup
}

/** Writes the head of a block whose frames end at `end`. */
export function writeHead(
  block: Buffer,
  end: number,
  { records, section, texts }: { readonly records: number; readonly section: number; readonly texts: number },
): void {
  blockMagic.copy(block)
  block.writeUInt32LE(end, headAt.length)
  block.writeUInt32LE(records, headAt.records)
  block.writeUInt32LE(section, headAt.section)
  block.writeUInt32LE(texts, headAt.texts)
  block.writeUInt32LE(crc32(block.subarray(headAt.length, end)), headAt.checksum)
}

export function isIntact(bytes: Buffer, start: number, end: number): boolean {
  const checksum = bytes.readUInt32LE(start + headAt.checksum)
  return crc32(bytes.subarray(start + headAt.length, end)) === checksum
}
