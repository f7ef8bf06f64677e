// Opens files to be imported as streams of bytes, unpacked, with bounded memory.

import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { TransferError } from './record.ts'

const chunkBytes = 65_536
/** Enough of a file to recognise its format by. */
const headBytes = 65_536
const gzipMagic = 0x1f8b

/** Bytes of a file as they are read, for showing progress: those on the disk, not the unpacked ones. */
export type CountBytes = (bytes: number) => void

/** Whether a file is packed with gzip, by its first bytes. */
export async function isGzip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer.readUInt16BE() === gzipMagic
  } finally {
    await file.close()
  }
}

/**
 * The unpacked bytes of a file from an offset on, in chunks. Throws {@link TransferError} when it cannot be read, or
 * when its compressed data is damaged or ends too early.
 */
export async function* readBytes(
  path: string,
  from = 0,
  count: CountBytes = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let skip = 0
  let stream: Readable
  try {
    const packed = await isGzip(path)
    const file = createReadStream(path, { highWaterMark: chunkBytes, start: packed ? 0 : from })
    if (!packed) count(from)
    else skip = from
    file.on('data', chunk => count(chunk.length))
    stream = packed ? pipeline(file, createGunzip({ chunkSize: chunkBytes }), () => undefined) : file
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (skip >= chunk.length) skip -= chunk.length
      else {
        yield skip > 0 ? chunk.subarray(skip) : chunk
        skip = 0
      }
    }
  } catch (cause) {
    throw explained(cause, path)
  }
}

/** The first unpacked bytes of a file, at most {@link headBytes}. */
export async function readHead(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of readBytes(path)) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= headBytes) break
    }
  } catch (error) {
    // What is there is enough to recognise it by; that it is damaged shows when it is read.
    if (length === 0) throw error
  }
  return Buffer.concat(chunks).subarray(0, headBytes)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  Z_BUF_ERROR: 'its compressed data ends too early: the file is cut off',
  Z_DATA_ERROR: 'its compressed data is damaged',
}

function explained(cause: unknown, path: string): unknown {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === undefined || cause instanceof TransferError) return cause
  return new TransferError(`${path} cannot be read: ${reasons[code] ?? code}`, { cause })
}
