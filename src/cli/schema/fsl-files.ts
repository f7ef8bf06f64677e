// Reads, pulls and watches a folder of `.fsl` files, the schema language of version 10. A pull does not change the
// texts of the files. Changes are found by reading the files at intervals: that works on every system and file system,
// and costs almost nothing for the few files of a schema.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { systemTimers, wait } from '../../base/timers.ts'
import { isVersion10Schema, readFsl } from '../../transfer/fsl.ts'
import { TransferError } from '../../transfer/record.ts'
import { schemaFilesOf } from '../../transfer/schema-methods.ts'
import type { QueryConnection } from '../client/connection.ts'
import { CommandError } from '../command.ts'

/** Returns the files by path in the folder, deeper folders included. */
export function readFslFiles(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.fsl'))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  return new Map(names.map(path => [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')]))
}

interface FileChange {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly isNew: boolean
}

/** `unknown`: files in the folder that the database does not have. */
interface PullPlan {
  readonly changes: readonly FileChange[]
  readonly unknown: readonly string[]
}

/**
 * Returns the files in the order of the service. `isStaged`: of the staged schema instead of the active one. Throws
 * {@link CommandError} when the service rejects the request, and {@link TransferError} for too much text.
 */
export function databaseFiles(
  connection: QueryConnection,
  isStaged = false,
): ReturnType<typeof schemaFilesOf> {
  const get = (steps: readonly string[]) =>
    connection.schema('GET', `${steps.map(encodeURIComponent).join('/')}?staged=${isStaged}`)
  return schemaFilesOf(get)
}

/**
 * True if the schema uses a feature that only version 10 has, or a file that cannot be parsed. A user of version 10 has
 * written such a file, because the service generates only valid files.
 */
export async function hasVersion10(connection: QueryConnection): Promise<boolean> {
  const files = await databaseFiles(connection)
  try {
    return isVersion10Schema(files.map(({ name, text }) => readFsl(name, text)))
  } catch (error) {
    if (error instanceof TransferError) return true
    throw error
  }
}

/** Throws {@link CommandError} for a path outside of the folder, and for a name that does not end with `.fsl`. */
export async function planPull(folder: string, connection: QueryConnection): Promise<PullPlan> {
  const local = new Map(readFslFiles(folder))
  const changes: FileChange[] = []
  for (const { name, text } of await databaseFiles(connection)) {
    const path = resolve(folder, name)
    if (!path.startsWith(resolve(folder) + sep))
      throw new CommandError(`the file ${name} is outside of ${folder}`)
    // The service at an address can be any program, which could write, for example, a hook of git.
    if (!name.endsWith('.fsl')) throw new CommandError(`the name of the file ${name} does not end with .fsl`)
    const before = local.get(name)
    local.delete(name)
    if (before !== text) changes.push({ name, path, text, isNew: before === undefined })
  }
  return { changes, unknown: [...local.keys()] }
}

export function writeChanges(changes: readonly FileChange[]): void {
  for (const { path, text } of changes) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/**
 * Prefixes positions in the files of a folder with the folder, so that a terminal or an editor can open the files.
 * Positions in files that only the database has stay unchanged.
 */
export function inFolder(message: string, folder: string, files: SchemaFiles): string {
  const path = relative('.', folder) || '.'
  return message.replace(/^(\s*at )(.+\.fsl)(:\d+:\d+)$/gm, (line, before, name, position) =>
    files.has(name) ? `${before}${path}/${name}${position}` : line,
  )
}

/** Texts of schema files by name. */
export type SchemaFiles = ReadonlyMap<string, string>

/** Milliseconds between two reads. */
const watchMs = 300

/**
 * Calls `use` with the files, and again after each change, until `isStopped` returns true. Rejects if the first read
 * fails.
 */
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

/**
 * Returns undefined while the files cannot be read, for example because an editor is replacing a file or the service is
 * restarting.
 */
async function tryRead(read: () => SchemaFiles | Promise<SchemaFiles>): Promise<SchemaFiles | undefined> {
  try {
    return await read()
  } catch (cause) {
    // A file may be renamed between the listing of the folder and the read of the file.
    if (cause instanceof CommandError || (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}

const isSame = (files: SchemaFiles, others: SchemaFiles) =>
  files.size === others.size && [...files].every(([name, text]) => others.get(name) === text)
