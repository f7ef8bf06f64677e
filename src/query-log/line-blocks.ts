// Reads files of lines in blocks.

import { open } from 'node:fs/promises'
import { newline } from '../values/json-scan.ts'
import { ifThere } from './segment-files.ts'

const blockBytes = 524_288

/**
 * The whole lines of a file in blocks, each valid until the next one is requested. Yields nothing when retention has
 * removed the file since it was listed. Records are shorter than a block, so a longer line is damaged and skipped. An
 * incomplete line at the end, where a writer crashed, is skipped as well. Throws the reason of `signal` once it is
 * aborted.
 */
export async function* lineBlocks(
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await ifThere(open(path))
  if (file === undefined) return
  try {
    const block = Buffer.allocUnsafe(blockBytes)
    let held = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(block, held, block.length - held, null)
      if (bytesRead === 0) return
      const filled = held + bytesRead
      const end = block.lastIndexOf(newline, filled - 1) + 1
      if (end > 0) yield block.subarray(0, end)
      held = end === 0 && filled === block.length ? 0 : filled - end
      block.copyWithin(0, end, filled)
    }
  } finally {
    await file.close()
  }
}
