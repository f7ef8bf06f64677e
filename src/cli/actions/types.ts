// Writes TypeScript declarations of a schema, once or after each change.

import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { reasonOf } from '../../base/system-reasons.ts'
import { readIfPresent } from '../../base/text-file.ts'
import { stayAlive } from '../../base/timers.ts'
import { readFsl } from '../../transfer/fsl.ts'
import { TransferError } from '../../transfer/record.ts'
import { withConnection } from '../client/connect.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { jsonText } from '../client/report.ts'
import { CommandError } from '../command.ts'
import { databaseFiles, inFolder, readFslFiles, type SchemaFiles, watchSchema } from '../schema/fsl-files.ts'
import { escapeHidden } from '../terminal.ts'
import { withTransferErrors } from '../transfer-errors.ts'
import { declarationsOf } from '../types/declarations.ts'
import { valueClassesOf } from '../types/value-classes.ts'

interface TypesChoice {
  readonly out: string | undefined
  readonly watch: boolean
  /** Client package whose classes the generated declarations use. */
  readonly client: string
}

/** Resolves with the exit status. */
export async function writeTypes(
  folder: string | undefined,
  choice: TypesChoice & ClientChoice,
  config: Config,
): Promise<number> {
  if (choice.watch && choice.out === undefined) throw new UsageError('--watch needs --out')
  if (folder !== undefined) return writeAll(() => filesOf(resolve(folder)), choice, folder)
  const read = (connection: QueryConnection) =>
    withTransferErrors(async () => {
      const files = await databaseFiles(connection)
      return new Map(files.map(({ name, text }) => [name, text]))
    })
  return withConnection(choice, config, connection => writeAll(() => read(connection), choice))
}

/** Throws {@link CommandError} if there is no such folder, or if it has no schema files. */
export function filesOf(folder: string): SchemaFiles {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new CommandError(`there is no folder ${folder}`)
  const files = readFslFiles(folder)
  if (files.size === 0) throw new CommandError(`there are no .fsl files in ${folder}`)
  return files
}

async function writeAll(
  read: () => SchemaFiles | Promise<SchemaFiles>,
  choice: TypesChoice,
  folder?: string,
): Promise<number> {
  if (!choice.watch) return writeOnce(await read(), choice, folder)
  const stopWaiting = stayAlive()
  try {
    await watchSchema(read, files => void writeOnce(files, choice, folder))
    return 0
  } finally {
    stopWaiting()
  }
}

/** `folder`: where the files are; undefined for the files of a database. */
function writeOnce(files: SchemaFiles, { client, out }: TypesChoice, folder?: string): number {
  let text: string
  try {
    text = typesOf(files, client)
  } catch (cause) {
    if (!(cause instanceof TransferError)) throw cause
    const message = folder === undefined ? cause.message : inFolder(cause.message, folder, files)
    process.stderr.write(`${escapeHidden(message)}\n`)
    return 2
  }
  if (out === undefined) process.stdout.write(jsonText(text, process.stdout))
  else if (writeIfChanged(resolve(out), text)) process.stdout.write(`wrote ${out}\n`)
  return 0
}

/** Throws {@link TransferError} with all errors of the first invalid file. */
export function typesOf(files: SchemaFiles, client: string): string {
  const items = [...files].flatMap(([name, text]) => readFsl(name, text).items)
  return declarationsOf(items, valueClassesOf(client))
}

/**
 * Writes only changed content, because every write starts the programs that watch the file. Returns whether the file
 * was written.
 */
export function writeIfChanged(path: string, text: string): boolean {
  try {
    if (readIfPresent(path) === text) return false
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return true
  } catch (cause) {
    throw new CommandError(`cannot write ${path}: ${reasonOf(cause)}`)
  }
}
