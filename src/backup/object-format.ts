// The format of the compressed objects of a continuous backup: a piece of the log (records of the commit log), or a
// part of a base copy (a copy of the data file). After a header, the bytes are compressed.
//
//   header (32 bytes): magic (8), version (4), compression (4), uncompressed length (4), compressed length (4),
//                      checksum of the compressed bytes (4), checksum of the header (4)

import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { megabyte } from '../base/bytes.ts'
import type { Micros } from '../base/micros.ts'
import { keyTags } from '../storage/keys/keyspace.ts'
import { firstWrite, WriteReader } from '../storage/kv/batch.ts'
import { anyRecordIn, type RecordBounds } from '../storage/log/segment-format.ts'
import { commitOf } from '../storage/store/last-commit.ts'
import { BackupError, objectBytesMax } from './target.ts'

const magic = Buffer.from('terrback')
const formatVersion = 1

/** Uncompressed size of a part; only the last part is shorter. */
export const partBytes: number = 8 * megabyte

export function partsOf(bytes: number): number {
  return Math.ceil(bytes / partBytes)
}

const headerBytes = 32

const at = { version: 8, compression: 12, bytes: 16, packed: 20, packedChecksum: 24, checksum: 28 } as const

const compressions = { gzip: 1, zstd: 2 } as const

/** The fastest levels, because the service needs the CPU. */
const gzipOptions: zlib.ZlibOptions = { level: 1 }
const zstdOptions: zlib.ZstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }

/** The first releases of Node 22 have no zstd. */
const hasZstd = typeof zlib.zstdCompress === 'function'

const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)
const gunzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gunzip)

export async function packObject(bytes: Uint8Array): Promise<Buffer> {
  const packed = hasZstd
    ? await promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)(bytes, zstdOptions)
    : await gzip(bytes, gzipOptions)
  const header = Buffer.alloc(headerBytes)
  magic.copy(header)
  header.writeUInt32LE(formatVersion, at.version)
  header.writeUInt32LE(hasZstd ? compressions.zstd : compressions.gzip, at.compression)
  header.writeUInt32LE(bytes.length, at.bytes)
  header.writeUInt32LE(packed.length, at.packed)
  header.writeUInt32LE(zlib.crc32(packed), at.packedChecksum)
  header.writeUInt32LE(zlib.crc32(header.subarray(0, at.checksum)), at.checksum)
  return Buffer.concat([header, packed])
}

/**
 * Throws {@link BackupError} when the object is damaged, has more than `bytesMax` uncompressed bytes, was written by a
 * newer version, or needs zstd and this version of Node.js has none.
 */
export async function unpackObject(
  name: string,
  object: Buffer,
  bytesMax: number = objectBytesMax,
): Promise<Buffer> {
  const damaged = () => new BackupError(`the object ${name} is damaged`)
  if (object.length < headerBytes || !object.subarray(0, magic.length).equals(magic)) throw damaged()
  if (object.readUInt32LE(at.checksum) !== zlib.crc32(object.subarray(0, at.checksum))) throw damaged()
  if (object.readUInt32LE(at.version) !== formatVersion)
    throw new BackupError(`the object ${name} was written by a newer version of Terrarium`)
  const packed = object.subarray(headerBytes)
  const isWhole =
    packed.length === object.readUInt32LE(at.packed) &&
    zlib.crc32(packed) === object.readUInt32LE(at.packedChecksum)
  if (!isWhole) throw damaged()
  const isZstd = object.readUInt32LE(at.compression) === compressions.zstd
  if (isZstd && !hasZstd)
    throw new BackupError(`the object ${name} is compressed with zstd, which needs Node.js 22.15`)
  const maxOutputLength = object.readUInt32LE(at.bytes)
  if (maxOutputLength > bytesMax)
    throw new BackupError(`the object ${name} declares ${maxOutputLength} bytes, allowed are ${bytesMax}`)
  const decompress = isZstd
    ? promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress)
    : gunzip
  const bytes = await decompress(packed, { maxOutputLength }).catch(() => {
    throw damaged()
  })
  if (bytes.length !== maxOutputLength) throw damaged()
  return bytes
}

/** Throws {@link BackupError} unless `bytes` are consecutive records. */
export function* recordsIn(bytes: Buffer): Generator<RecordBounds> {
  for (let start = 0; start < bytes.length; ) {
    const record = anyRecordIn(bytes, start)
    if (record === undefined) throw new BackupError('a piece of the backup contains damaged records')
    yield record
    start = record.end
  }
}

/** `end`: the offset after the row with the commit's time. */
interface CommitEnd {
  readonly time: Micros
  readonly end: number
}

/**
 * Returns the commits of a record, in order. Each commit writes its time to the row with the newest commit time,
 * usually as its last write. Only a large transaction writes more after that, and it is always the last commit of its
 * record.
 */
export function commitsIn(bytes: Buffer, { batchEnd, batchStart }: RecordBounds): CommitEnd[] {
  const commits: CommitEnd[] = []
  const reader = new WriteReader(bytes)
  for (let start = firstWrite(bytes, batchStart); start < batchEnd; start = reader.end) {
    reader.read(start)
    if (bytes[reader.keyStart] !== keyTags.meta) continue
    const commit = commitOf({ key: reader.key, value: reader.value })
    if (commit !== undefined) commits.push({ time: commit.time, end: reader.end })
  }
  return commits
}
