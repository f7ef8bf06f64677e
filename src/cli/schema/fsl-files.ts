// A folder of `.fsl` files, the schema language of version 10: pulled and pushed as they are, with the service saying what
// would change.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { schemaFilesOf } from '../../transfer/connection.ts'
import { readFsl, saysVersion10 } from '../../transfer/fsl.ts'
import { TransferError } from '../../transfer/record.ts'
import type { QueryConnection } from '../client/connection.ts'
import { StartError } from '../command.ts'

/** The `.fsl` files of a folder and of those in it, by their names within it, with their texts. */
export function readFslFiles(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.fsl'))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  return new Map(names.map(path => [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')]))
}

/** A file of the database that is not the same in the folder. */
interface PulledFile {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly isNew: boolean
}

/** What pulling changes in a folder, and which files of it the database does not have. */
interface PullPlan {
  readonly changes: readonly PulledFile[]
  readonly unknown: readonly string[]
}

/** The schema files of a database, in the order of the service. Throws {@link StartError} when it refuses. */
export function databaseFiles(connection: QueryConnection): ReturnType<typeof schemaFilesOf> {
  return schemaFilesOf(steps => connection.schema('GET', steps.map(encodeURIComponent).join('/')))
}

/** Whether the schema of a database has something that only version 10 can say; files that cannot be read count as the user's own. */
export async function hasVersion10(connection: QueryConnection): Promise<boolean> {
  const files = await databaseFiles(connection)
  try {
    return saysVersion10(files.map(({ name, text }) => readFsl(name, text)))
  } catch (error) {
    if (error instanceof TransferError) return true
    throw error
  }
}

/** Compares the files of a database with those of a folder. Throws {@link StartError} for names that lead out of it. */
export async function planPull(folder: string, connection: QueryConnection): Promise<PullPlan> {
  const local = new Map(readFslFiles(folder))
  const changes: PulledFile[] = []
  for (const { name, text } of await databaseFiles(connection)) {
    const path = resolve(folder, name)
    if (!path.startsWith(resolve(folder) + sep))
      throw new StartError(`the file ${name} lies outside of ${folder}`)
    const before = local.get(name)
    local.delete(name)
    if (before !== text) changes.push({ name, path, text, isNew: before === undefined })
  }
  return { changes, unknown: [...local.keys()] }
}

/** Writes what {@link planPull} has found. */
export function writePulled(changes: readonly PulledFile[]): void {
  for (const { path, text } of changes) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

/** What pushing would change, as the service tells it, and for which version of the schema that holds. */
interface PushPlan {
  readonly diff: string
  readonly version: number
  /** A schema is staged: what is pushed goes into it. */
  readonly isStaged: boolean
}

/** `isWhole`: what is in none of the files is deleted. */
export async function planPush(
  files: ReadonlyMap<string, string>,
  isWhole: boolean,
  connection: QueryConnection,
): Promise<PushPlan> {
  const { status } = (await connection.schema('GET', 'status')) as { status: string }
  const isStaged = status !== 'none'
  const path = `diff?override=${isWhole}&staged=${isStaged}`
  const { diff, version } = (await connection.schema('POST', path, files)) as Omit<PushPlan, 'isStaged'>
  return { diff, isStaged, version }
}

/** Makes the schema what the files say, unless it has changed since the plan was made. */
export async function pushFiles(
  files: ReadonlyMap<string, string>,
  isWhole: boolean,
  { version }: PushPlan,
  connection: QueryConnection,
): Promise<void> {
  await connection.schema('POST', `update?override=${isWhole}&version=${version}`, files)
}
