// Copies the log segments of other machines into the local folder of segments, where all readers find them. A copy
// grows when its machine uploads more.

import { open, stat, utimes } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { micros } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Chunk } from '../storage/kv/postgres/log-chunks.ts'
import type { Micros } from '../values/value.ts'
import { copyPath, ifThere, listSegments, slackMs, type TimeSpan } from './segment-files.ts'
import { chunkName, type SharedLog } from './shared-log.ts'

const expanded = promisify(gunzip)

/** Polling interval while waiting for other machines, in milliseconds. */
const lookEveryMs = 100

interface GatherOptions {
  readonly folder: string
  readonly shared: SharedLog
  readonly timers: Timers
}

/**
 * Requests the records of all machines up to `time`, waits for the live machines, and copies the missing parts of all
 * segments that may contain records of the span.
 */
export async function gather(
  options: GatherOptions,
  { from, to }: TimeSpan,
  time: Micros,
  signal: AbortSignal,
): Promise<void> {
  const { folder, shared, timers } = options
  const { chunks } = shared
  await chunks.request(time)
  while ((await chunks.reportedByAll()) < time) {
    signal.throwIfAborted()
    await wait(lookEveryMs, timers)
  }
  const own = new Set(
    (await listSegments(folder))
      .filter(({ isCopy }) => !isCopy)
      .map(({ writer, from: start }) => `${writer}/${start}`),
  )
  for (const chunk of await chunks.between(micros((from - slackMs) * 1000), micros(to * 1000))) {
    signal.throwIfAborted()
    if (!own.has(`${chunk.writer}/${chunk.start}`)) await copyChunk(options, chunk)
  }
}

/** Copies a chunk. Concurrent processes write the same bytes to the same position. */
async function copyChunk({ folder, shared }: GatherOptions, chunk: Chunk): Promise<void> {
  const { bucket, chunks } = shared
  const { bytes, position, start, until, writer } = chunk
  const path = copyPath(folder, start, writer)
  const size = (await ifThere(stat(path)))?.size ?? 0
  // A missing chunk before this one was removed because of its age, and older ones will be removed too.
  if (size >= position + bytes || size < position) return
  const body = await (bucket ? bucket.fetch(chunkName(chunk)) : chunks.body(chunk))
  if (body === undefined) return
  const file = await open(path, size === 0 ? 'a+' : 'r+', 0o600)
  await file.close()
  const copy = await open(path, 'r+')
  try {
    await copy.write(await expanded(body), 0, bytes, position)
  } finally {
    await copy.close()
  }
  await utimes(path, until / 1e6, until / 1e6)
}
