// Serves a data directory in a child process, and pushes the schema files of a folder after each change.

import { resolve } from 'node:path'
import { type Config, type SettingName, settings } from '../../app/config/settings.ts'
import { TransferError } from '../../transfer/record.ts'
import { startService } from '../client/connect.ts'
import { QueryConnection } from '../client/connection.ts'
import { CommandError } from '../command.ts'
import { ownEnvironment } from '../own-commands.ts'
import { inFolder, type SchemaFiles, watchSchema } from '../schema/fsl-files.ts'
import { planPush, pushFiles } from '../schema/fsl-push.ts'
import { readRootSecret } from '../service-files.ts'
import { escapeHidden, printLine, styleFor } from '../terminal.ts'
import { filesOf, typesOf, writeIfChanged } from './types.ts'

interface DevChoice {
  readonly out: string | undefined
  /** Client package whose classes the generated TypeScript declarations use. */
  readonly client: string
  readonly database: string | undefined
  readonly delete: boolean
}

/** Serves until SIGTERM or SIGINT, or until the service exits by itself. Resolves with the exit status. */
export async function develop(folder: string, choice: DevChoice, config: Config): Promise<number> {
  // Checked first, so that a misspelt folder fails before the service starts.
  filesOf(resolve(folder))
  const stopped = stopSignal()
  const service = await startService(environment(config), text => process.stderr.write(text))
  let isOver = false
  const over = Promise.race([stopped.then(() => 0), service.ended.then(() => 1)]).finally(() => {
    isOver = true
  })
  try {
    printLine(`Terrarium is ready on ${service.url}`)
    const connection = await connectionTo(service.url, choice.database, config)
    const use = (files: SchemaFiles) => pushAll(folder, files, choice, connection)
    const watching = watchSchema(
      () => filesOf(resolve(folder)),
      use,
      () => isOver,
    )
    await Promise.race([over, watching])
    return await over
  } finally {
    await service.stop()
  }
}

function stopSignal(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

/** Contains all settings, with the log level `warn` instead of the default `info`. */
function environment(config: Config): NodeJS.ProcessEnv {
  const logLevel = config.logLevel === 'info' ? 'warn' : config.logLevel
  return ownEnvironment({ ...config, logLevel }, Object.keys(settings) as SettingName[])
}

/** Creates the database and its parents if they are missing. */
async function connectionTo(
  url: string,
  database: string | undefined,
  config: Config,
): Promise<QueryConnection> {
  const secret = config.rootSecret ?? readRootSecret(config.data)
  if (secret === undefined)
    throw new CommandError(`the root secret is not in ${config.data}: give --root-secret`)
  const connectionIn = (path: string | undefined) =>
    new QueryConnection({ url, secret, scope: { database: path, as: undefined }, timeoutMs: undefined })
  const names = database?.split('/') ?? []
  for (const [depth, name] of names.entries()) {
    const text = JSON.stringify(name)
    const create = `if (Database.byName(${text}) == null) Database.create({ name: ${text} })`
    const parent = depth === 0 ? undefined : names.slice(0, depth).join('/')
    const { error, summary } = await connectionIn(parent).queryText(create, 'simple')
    if (error)
      throw new CommandError(`the database ${database} cannot be created: ${summary || error.message}`)
  }
  return connectionIn(database)
}

async function pushAll(
  folder: string,
  files: SchemaFiles,
  choice: DevChoice,
  connection: QueryConnection,
): Promise<void> {
  try {
    // The files are the whole schema, so the push deletes objects that are in no file.
    const plan = await planPush(files, true, connection)
    const deleted = plan.extra.filter(({ kind }) => kind === 'collection').map(({ name }) => name)
    if (deleted.length > 0 && !choice.delete) {
      const reason = `it would delete ${deleted.join(', ')} with all documents (--delete allows it)`
      printError(`not pushed: ${reason}\n${plan.diff.trimEnd()}`)
      return
    }
    await pushFiles(files, plan, connection)
    if (plan.isStaged)
      printLine('a schema is staged: the files are staged with it, and take effect when it is committed')
    printLine(plan.diff === '' ? `${folder}: unchanged` : `${folder}: pushed\n${plan.diff.trimEnd()}`)
    const { client, out } = choice
    if (out !== undefined && writeIfChanged(resolve(out), typesOf(files, client))) printLine(`wrote ${out}`)
  } catch (cause) {
    if (!(cause instanceof CommandError || cause instanceof TransferError)) throw cause
    printError(inFolder(cause.message, folder, files))
  }
}

function printError(message: string): void {
  process.stderr.write(`${styleFor(process.stderr)('red', escapeHidden(message))}\n`)
}
