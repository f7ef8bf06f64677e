// Reads a file on disk as a source of bytes.

import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { reasonOf } from '../base/system-reasons.ts'
import type { ByteSource } from './input.ts'
import { TransferError } from './record.ts'

const chunkBytes = 65_536

export function diskSource(path: string): ByteSource {
  return {
    path,
    read: from => withNameInErrors(createReadStream(path, { highWaterMark: chunkBytes, start: from }), path),
    unpack(packed) {
      const unpacker = createGunzip({ chunkSize: chunkBytes })
      const bytes = Readable.from(packed, { objectMode: false })
      return withNameInErrors(
        pipeline(bytes, unpacker, () => undefined),
        path,
      )
    },
  }
}

async function* withNameInErrors(
  chunks: AsyncIterable<Buffer>,
  path: string,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* chunks
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === undefined || cause instanceof TransferError) throw cause
    throw new TransferError(`${path} cannot be read: ${damages[code] ?? reasonOf(cause)}`, { cause })
  }
}

const damages: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'its compressed data ends too early: the file is cut off',
  Z_DATA_ERROR: 'its compressed data is damaged',
}
