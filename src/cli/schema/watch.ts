// Watches the files of a schema by reading them at intervals. Polling works on every system and file system, and costs
// almost nothing for the few files of a schema.

import { systemTimers, wait } from '../../base/timers.ts'
import { StartError } from '../command.ts'

/** The files of a schema, by name. */
export type SchemaFiles = ReadonlyMap<string, string>

/** Milliseconds between two reads. */
const watchMs = 300

/** Calls `use` with the files, and again after each change, until `isStopped`. Rejects if the first read fails. */
export async function watchSchema(
  read: () => SchemaFiles | Promise<SchemaFiles>,
  use: (files: SchemaFiles) => void | Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let last = await read()
  await use(last)
  while (!isStopped()) {
    await wait(watchMs, systemTimers)
    const files = isStopped() ? last : await tryRead(read)
    if (files === undefined || isSame(files, last)) continue
    last = files
    await use(files)
  }
}

/** Reads the files, or returns undefined while they cannot be read: an editor replaces a file, a service restarts. */
async function tryRead(read: () => SchemaFiles | Promise<SchemaFiles>): Promise<SchemaFiles | undefined> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof StartError) return undefined
    throw cause
  }
}

const isSame = (files: SchemaFiles, others: SchemaFiles) =>
  files.size === others.size && [...files].every(([name, text]) => others.get(name) === text)
