// Reads import files as streams of UTF-8 with bounded memory: decompresses files, and converts other encodings. The
// bytes may come from any source, so this code also runs in browsers. Bytes that are invalid in the encoding of their
// file are rejected, because a replacement character would change the data.

import { joinBytes } from '../base/bytes.ts'
import { newline } from '../values/json-scan.ts'
import { BadRecord } from './record.ts'

/** Bytes at the start of a file that are used to detect its format. */
const headBytes = 65_536
const gzipMagic = [0x1f, 0x8b]

/** Counts bytes for the progress. Compressed files count compressed bytes. */
export type CountBytes = (bytes: number) => void

/** The streams of both methods throw `TransferError` when the file cannot be read. */
export interface ByteSource {
  /** Path or name of the file. */
  readonly path: string
  /** Reads the stored bytes from an offset on. */
  read(from: number): AsyncIterable<Uint8Array>
  /** Decompresses gzip. */
  unpack(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** `encoding`: a label of the Encoding Standard. */
export interface TextFile {
  readonly source: ByteSource
  readonly encoding: string
}

/**
 * Yields the text of a file in chunks, converted to UTF-8. `from`: offset of the first byte in the UTF-8 text. Throws
 * `TransferError` when the file cannot be read, or when its compressed data is damaged or truncated. Throws {@link
 * BadRecord} for bytes that are invalid in the encoding.
 */
export async function* readText(
  file: TextFile,
  from = 0,
  count: CountBytes = () => undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { encoding, source } = file
  if (encoding === 'utf-8') yield* checkUtf8(readBytes(source, from, count), file, from)
  else yield* skipBytes(from, convertToUtf8(readBytes(source, 0, count), file))
}

/** Maximum size of a text that is read as a whole. */
const textBytesMax = 67_108_864

/** Throws the errors of {@link readText}, and {@link BadRecord} for a text that is too long. */
export async function readAll(file: TextFile): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of readText(file)) {
    chunks.push(chunk)
    length += chunk.length
    if (length > textBytesMax) throw new BadRecord(`larger than ${textBytesMax} bytes; split it`)
  }
  return new TextDecoder().decode(joinBytes(chunks))
}

async function* convertToUtf8(
  chunks: AsyncIterable<Uint8Array>,
  { encoding }: TextFile,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let offset = 0
  const decode = (chunk?: Uint8Array) => {
    try {
      return new TextEncoder().encode(decoder.decode(chunk, { stream: chunk !== undefined }))
    } catch {
      throw new BadRecord(`the text from byte ${offset} on is not valid ${encoding}`)
    }
  }
  for await (const chunk of chunks) {
    yield decode(chunk)
    offset += chunk.length
  }
  yield decode()
}

/** Checks that chunks are UTF-8, and splits them between characters. `from`: offset of the first chunk. */
async function* checkUtf8(
  chunks: AsyncIterable<Uint8Array>,
  { source }: TextFile,
  from: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let offset = from
  let rest: Uint8Array = new Uint8Array(0)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const encodingError = async (at: number) => {
    const line = await lineAt(source, at)
    return new BadRecord(
      `byte ${at} (line ${line}) is not valid UTF-8; use --encoding to name the encoding of the file`,
    )
  }
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : joinBytes([rest, chunk])
    const text = bytes.subarray(0, wholeCharacters(bytes))
    try {
      decoder.decode(text)
    } catch {
      throw await encodingError(offset + firstFault(text))
    }
    yield text
    offset += text.length
    rest = bytes.subarray(text.length)
  }
  if (rest.length > 0) throw await encodingError(offset)
}

/** Bytes up to the end of the last complete character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) break
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 0
    if (wanted > back) return bytes.length - back
    if (wanted > 0) break
  }
  return bytes.length
}

/** Offset of the first byte that changes when the bytes are decoded and encoded again. */
function firstFault(bytes: Uint8Array): number {
  const readable = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return bytes.findIndex((byte, at) => readable[at] !== byte)
}

async function lineAt(source: ByteSource, offset: number): Promise<number> {
  let line = 1
  let before = 0
  for await (const chunk of readBytes(source)) {
    for (const byte of chunk.subarray(0, Math.max(0, offset - before))) if (byte === newline) line++
    before += chunk.length
    if (before >= offset) break
  }
  return line
}

async function* skipBytes(
  count: number,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let skip = count
  for await (const chunk of chunks) {
    if (skip < chunk.length) yield chunk.subarray(skip)
    skip = Math.max(0, skip - chunk.length)
  }
}

async function isGzip(source: ByteSource): Promise<boolean> {
  let head: Uint8Array = new Uint8Array(0)
  for await (const chunk of source.read(0)) {
    head = joinBytes([head, chunk])
    if (head.length >= gzipMagic.length) break
  }
  return gzipMagic.every((byte, at) => head[at] === byte)
}

/** Reads the decompressed bytes from an offset on. */
async function* readBytes(
  source: ByteSource,
  from = 0,
  count: CountBytes = () => undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (await isGzip(source)) yield* skipBytes(from, source.unpack(counted(source.read(0), count)))
  else {
    count(from)
    yield* counted(source.read(from), count)
  }
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: CountBytes,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    count(chunk.length)
    yield chunk
  }
}

/**
 * Returns the encoding of a file, and the beginning of its text in UTF-8, from the first {@link headBytes} bytes. The
 * encoding is `given`, else that of the byte order mark, else UTF-8. Invalid bytes are reported later, when the whole
 * file is read.
 */
export async function readHead(
  source: ByteSource,
  given: string | undefined,
): Promise<{ readonly head: Uint8Array; readonly encoding: string }> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of readBytes(source)) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= headBytes) break
    }
  } catch (error) {
    // The bytes before the error are sufficient for detection. The error is reported when the whole file is read.
    if (length === 0) throw error
  }
  const bytes = joinBytes(chunks).subarray(0, headBytes)
  const encoding = given ?? utf16Of(bytes) ?? 'utf-8'
  return {
    encoding,
    head: encoding === 'utf-8' ? bytes : new TextEncoder().encode(new TextDecoder(encoding).decode(bytes)),
  }
}

/** Detects UTF-16 by its byte order mark. */
function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}
