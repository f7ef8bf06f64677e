// Opens files to be imported as streams of UTF-8, unpacked and converted, with bounded memory. Bytes that are no text in
// the encoding of their file are refused: what would be stored in their place is not what somebody wrote.

import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { reasonOf } from '../base/system-reasons.ts'
import { BadRecord, TransferError } from './record.ts'

const chunkBytes = 65_536
/** Enough of a file to recognise its format by. */
const headBytes = 65_536
const gzipMagic = 0x1f8b

/** Bytes of a file as they are read, for showing progress: those on the disk, not the unpacked ones. */
export type CountBytes = (bytes: number) => void

/** A file, and the label of the encoding its text is in (as in the Encoding Standard). */
export interface TextFile {
  readonly path: string
  readonly encoding: string
}

/**
 * The text of a file in UTF-8, from an offset in it on, in chunks. Throws {@link TransferError} when it cannot be read, or when
 * its compressed data is damaged or ends too early; {@link BadRecord} where its bytes are no text.
 */
export async function* readText(
  file: TextFile,
  from = 0,
  count: CountBytes = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const { encoding, path } = file
  if (encoding === 'utf-8') yield* checked(readBytes(path, from, count), file, from)
  else yield* without(from, converted(readBytes(path, 0, count), file))
}

/** Texts that are held as a whole. */
const textBytesMax = 67_108_864

/** The whole text of a file. Throws what {@link readText} throws, and for a text that is very long. */
export async function readAll(file: TextFile): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of readText(file)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > textBytesMax) throw new BadRecord(`larger than ${textBytesMax} bytes; split it`)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\ufeff/, '')
}

async function* converted(
  chunks: AsyncIterable<Buffer>,
  { encoding }: TextFile,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let offset = 0
  const decode = (chunk?: Buffer) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }))
    } catch {
      throw new BadRecord(`what stands behind byte ${offset} is no text in ${encoding}`)
    }
  }
  for await (const chunk of chunks) {
    yield decode(chunk)
    offset += chunk.length
  }
  yield decode()
}

/** UTF-8 as it is, cut between characters. `from` is the offset of the first chunk. */
async function* checked(
  chunks: AsyncIterable<Buffer>,
  { path }: TextFile,
  from: number,
): AsyncGenerator<Buffer, void, undefined> {
  let offset = from
  let rest: Buffer = Buffer.alloc(0)
  const refuse = async (at: number) => {
    const line = await lineAt(path, at)
    return new BadRecord(`byte ${at} (line ${line}) is no UTF-8; --encoding says what else the file is in`)
  }
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const text = bytes.subarray(0, wholeCharacters(bytes))
    if (!isUtf8(text)) throw await refuse(offset + firstFault(text))
    yield text
    offset += text.length
    rest = bytes.subarray(text.length)
  }
  if (rest.length > 0) throw await refuse(offset)
}

/** Bytes up to the beginning of a character that the end may cut. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) break
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0
    if (wanted > back) return bytes.length - back
    if (wanted > 0) break
  }
  return bytes.length
}

/** Where bytes that are no UTF-8 differ from what can be read of them. */
function firstFault(bytes: Buffer): number {
  const readable = Buffer.from(bytes.toString('utf8'))
  return bytes.findIndex((byte, at) => readable[at] !== byte)
}

const newline = 0x0a

async function lineAt(path: string, offset: number): Promise<number> {
  let line = 1
  let before = 0
  for await (const chunk of readBytes(path)) {
    for (const byte of chunk.subarray(0, Math.max(0, offset - before))) if (byte === newline) line++
    before += chunk.length
    if (before >= offset) break
  }
  return line
}

async function* without(
  count: number,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let skip = count
  for await (const chunk of chunks) {
    if (skip < chunk.length) yield chunk.subarray(skip)
    skip = Math.max(0, skip - chunk.length)
  }
}

/** Whether a file is packed with gzip, by its first bytes. */
async function isGzip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer.readUInt16BE() === gzipMagic
  } finally {
    await file.close()
  }
}

/** The unpacked bytes of a file from an offset on. */
async function* readBytes(
  path: string,
  from = 0,
  count: CountBytes = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    const packed = await isGzip(path)
    const file = createReadStream(path, { highWaterMark: chunkBytes, start: packed ? 0 : from })
    if (!packed) count(from)
    file.on('data', chunk => count(chunk.length))
    const stream = packed ? pipeline(file, createGunzip({ chunkSize: chunkBytes }), () => undefined) : file
    yield* without(packed ? from : 0, stream)
  } catch (cause) {
    throw explained(cause, path)
  }
}

/**
 * The beginning of a file's text in UTF-8, at most some {@link headBytes}, and the encoding of the file: the one that is `given`,
 * or what its first bytes say, or UTF-8. What cannot be read shows when all of it is read.
 */
export async function readHead(
  path: string,
  given: string | undefined,
): Promise<{ readonly head: Buffer; readonly encoding: string }> {
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
  const bytes = Buffer.concat(chunks).subarray(0, headBytes)
  const encoding = given ?? utf16Of(bytes) ?? 'utf-8'
  return {
    encoding,
    head: encoding === 'utf-8' ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes)),
  }
}

/** UTF-16 says so with the mark that it begins with. */
function utf16Of(bytes: Buffer): string | undefined {
  const mark = bytes.length < 2 ? 0 : bytes.readUInt16BE()
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined
}

const damages: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'its compressed data ends too early: the file is cut off',
  Z_DATA_ERROR: 'its compressed data is damaged',
}

function explained(cause: unknown, path: string): unknown {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === undefined || cause instanceof TransferError) return cause
  return new TransferError(`${path} cannot be read: ${damages[code] ?? reasonOf(cause)}`, { cause })
}
