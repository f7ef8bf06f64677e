// The content of pieces and of parts of base copies: a header with lengths and checksums, then the bytes, compressed.
//
//   header (32 bytes): magic (8), version (4), compression (4), uncompressed length (4), compressed length (4),
//                      checksum of the compressed bytes (4), checksum of the header (4)

import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { checksum } from '../base/checksum.ts'
import { BackupError } from './target.ts'

const magic = Buffer.from('terrback')
const formatVersion = 1
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

/** Encodes bytes as an object. */
export async function encodeChunk(bytes: Uint8Array): Promise<Buffer> {
  const packed = hasZstd
    ? await promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)(bytes, zstdOptions)
    : await gzip(bytes, gzipOptions)
  const header = Buffer.alloc(headerBytes)
  magic.copy(header)
  header.writeUInt32LE(formatVersion, at.version)
  header.writeUInt32LE(hasZstd ? compressions.zstd : compressions.gzip, at.compression)
  header.writeUInt32LE(bytes.length, at.bytes)
  header.writeUInt32LE(packed.length, at.packed)
  header.writeUInt32LE(checksum(packed), at.packedChecksum)
  header.writeUInt32LE(checksum(header.subarray(0, at.checksum)), at.checksum)
  return Buffer.concat([header, packed])
}

/** Decodes the object `name`. Throws {@link BackupError} when it is damaged, or was written by a newer version. */
export async function decodeChunk(name: string, object: Buffer): Promise<Buffer> {
  const damaged = () => new BackupError(`the object ${name} is damaged`)
  if (object.length < headerBytes || !object.subarray(0, magic.length).equals(magic)) throw damaged()
  if (object.readUInt32LE(at.checksum) !== checksum(object.subarray(0, at.checksum))) throw damaged()
  if (object.readUInt32LE(at.version) !== formatVersion)
    throw new BackupError(`the object ${name} was written by a newer version of Terrarium`)
  const packed = object.subarray(headerBytes)
  const isWhole =
    packed.length === object.readUInt32LE(at.packed) &&
    checksum(packed) === object.readUInt32LE(at.packedChecksum)
  if (!isWhole) throw damaged()
  const isZstd = object.readUInt32LE(at.compression) === compressions.zstd
  if (isZstd && !hasZstd)
    throw new BackupError(`the object ${name} is compressed with zstd, which needs Node.js 22.15`)
  const maxOutputLength = object.readUInt32LE(at.bytes)
  const bytes = isZstd
    ? await promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress)(packed, {
        maxOutputLength,
      })
    : await gunzip(packed, { maxOutputLength })
  if (bytes.length !== maxOutputLength) throw damaged()
  return bytes
}
