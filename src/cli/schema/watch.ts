// Watches the files of a schema by reading them again and again: that needs nothing of the operating system, works on every file
// system, and costs next to nothing for the few files that a schema has.

import { systemTimers, wait } from '../../base/timers.ts'
import { StartError } from '../command.ts'

/** The files of a schema, by name. */
export type SchemaFiles = ReadonlyMap<string, string>

/** Milliseconds between two reads. */
const watchMs = 300

/** Calls `use` with the files, and again whenever they differ, until `isStopped`. The first read may throw. */
export async function watchSchema(
  read: () => SchemaFiles | Promise<SchemaFiles>,
  use: (files: SchemaFiles) => void | Promise<void>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let last = await read()
  await use(last)
  while (!isStopped()) {
    await wait(watchMs, systemTimers)
    const files = isStopped() ? last : await readAgain(read)
    if (files === undefined || isSame(files, last)) continue
    last = files
    await use(files)
  }
}

/** A schema may be away for a moment: an editor replaces a file, a service starts again. */
async function readAgain(read: () => SchemaFiles | Promise<SchemaFiles>): Promise<SchemaFiles | undefined> {
  try {
    return await read()
  } catch (cause) {
    if (cause instanceof StartError) return undefined
    throw cause
  }
}

const isSame = (files: SchemaFiles, others: SchemaFiles) =>
  files.size === others.size && [...files].every(([name, text]) => others.get(name) === text)
