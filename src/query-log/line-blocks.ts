// Files of lines, read a block at a time.

import { type FileHandle, open } from 'node:fs/promises'
import { newline } from '../values/json-characters.ts'

/** Opens a file; undefined when retention has removed it since it was listed. */
export async function openUnlessGone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Reads a file into `block` again and again and yields how many bytes at its beginning are whole lines; they are valid
 * until the next ones are asked for. No record is as long as a block: one that seems to be is damage and left out. Ends
 * with the reason of `signal` once that is aborted.
 */
export async function* lineBlocks(
  file: FileHandle,
  block: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<number, void, undefined> {
  let held = 0
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(block, held, block.length - held, null)
    if (bytesRead === 0) return
    const filled = held + bytesRead
    const end = block.lastIndexOf(newline, filled - 1) + 1
    if (end > 0) yield end
    held = end === 0 && filled === block.length ? 0 : filled - end
    block.copyWithin(0, end, filled)
  }
}
