// Pulls the schema of a database into files and pushes it back, showing what changes before anything does.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../app/config/settings.ts'
import { FqlSyntaxError, type SourceNode, type TextRange } from '../../fql4/text/index.ts'
import type { Json } from '../../values/value.ts'
import { connect } from '../client/connect.ts'
import type { QueryConnection, WireError } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { failureText, writeSyntaxError } from '../client/report.ts'
import { StartError } from '../command.ts'
import { isConfirmed } from '../question.ts'
import { readSchema, sameJson } from '../schema/database.ts'
import { evaluateObjects } from '../schema/evaluate.ts'
import {
  type FolderContent,
  fileOf,
  readFolder,
  SchemaFileError,
  type WrittenObject,
  writeObject,
} from '../schema/folder.ts'
import {
  hasVersion10,
  planPull,
  planPush,
  pushFiles,
  readFslFiles,
  writePulled,
} from '../schema/fsl-files.ts'
import { idOf, type SchemaObject } from '../schema/kinds.ts'
import { makePlan, type SchemaChange, type SchemaPlan, stepsOf } from '../schema/plan.ts'
import { type Output, styleFor, visible } from '../terminal.ts'

interface Choice {
  readonly dryRun: boolean
  readonly yes: boolean
}

interface PullChoice extends Choice {
  /** The version of the language whose files are written; `auto`: that of the folder or the database. */
  readonly fql: string
}

interface PushChoice extends Choice {
  readonly delete: boolean
}

/** Writes the schema of a database to files; resolves with the exit status. */
export function pullSchema(
  folder: string,
  choice: PullChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => pull(resolve(folder), connection, choice))
}

/** Makes the schema of a database what files say; resolves with the exit status. */
export function pushSchema(
  folder: string,
  choice: PushChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => push(resolve(folder), connection, choice))
}

async function withService(
  choice: ClientChoice,
  config: Config,
  run: (connection: QueryConnection) => Promise<number>,
): Promise<number> {
  const connection = await connect(choice, config)
  try {
    return await run(connection)
  } catch (cause) {
    if (!(cause instanceof SchemaFileError)) throw cause
    writeSyntaxError(cause.error, cause.from, process.stderr, cause.title)
    return 2
  } finally {
    await connection.close()
  }
}

// --------------------------------------------------------------------------------------------------- pull

/** A folder with `.fsl` files is one of version 10, and one without any files what the database is. */
async function pull(folder: string, connection: QueryConnection, choice: PullChoice): Promise<number> {
  const isVersion10 =
    choice.fql === 'auto'
      ? readFslFiles(folder).size > 0 || (!hasObjects(folder) && (await hasVersion10(connection)))
      : choice.fql === '10'
  return isVersion10 ? pullFsl(folder, connection, choice) : pullObjects(folder, connection, choice)
}

/** Whether there are files of version 4, be they such that cannot be read. */
function hasObjects(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { objects, unread } = readFolder(folder)
  return objects.length + unread.length > 0
}

async function pullFsl(folder: string, connection: QueryConnection, choice: Choice): Promise<number> {
  const { changes, unknown } = await planPull(folder, connection)
  showFiles(changes.map(({ isNew, name }) => ({ file: name, isNew })))
  for (const name of unknown) print(`? ${name}: the database has no such file`)
  const asks = changes.some(({ isNew }) => !isNew)
  return writeFiles(changes.length, asks, choice, () => writePulled(changes))
}

async function pullObjects(folder: string, connection: QueryConnection, choice: Choice): Promise<number> {
  const present = await readSchema(connection)
  const content = existsSync(folder) ? readFolder(folder) : undefined
  const written = content?.objects ?? []
  const kept = new Map<string, { readonly object: SchemaObject; readonly file: string }>()
  for (const [index, object] of (await evaluateObjects(written, connection)).entries()) {
    kept.set(idOf(object), { object, file: (written[index] as WrittenObject).from.file })
  }
  const changes: { readonly object: SchemaObject; readonly file: string; readonly isNew: boolean }[] = []
  for (const object of present) {
    const other = kept.get(idOf(object))
    kept.delete(idOf(object))
    if (other && sameJson(object.fields, other.object.fields)) continue
    changes.push({ object, file: other?.file ?? fileOf(folder, object), isNew: !other })
  }
  checkWritable(changes, written)
  showLeftOut(content)
  showFiles(changes)
  for (const { file, object } of kept.values())
    print(`? ${file}: the database has no ${object.kind.name} ${object.name}`)
  print(`${present.length - changes.length} unchanged`)
  const asks = changes.some(({ file }) => existsSync(file))
  return writeFiles(changes.length, asks, choice, () => {
    for (const { file, object } of changes) writeObject(file, object)
  })
}

function showFiles(changes: readonly { readonly file: string; readonly isNew: boolean }[]): void {
  const style = styleFor(process.stdout)
  for (const { file, isNew } of changes)
    print(style(isNew ? 'green' : 'yellow', `${isNew ? '+' : '~'} ${visible(file)}`))
}

/** Writes so many files; where nothing is overwritten there is nothing to ask. Resolves with the exit status. */
async function writeFiles(count: number, asks: boolean, choice: Choice, write: () => void): Promise<number> {
  if (count === 0) return 0
  const yes = choice.yes || !asks
  if (!(await isConfirmed({ ...choice, yes }, `Write ${count} files?`))) return choice.dryRun ? 0 : 1
  write()
  print(`wrote ${count} files`)
  return 0
}

/** A file with several objects cannot be written for one of them, and one in JavaScript not at all. */
function checkWritable(
  changes: readonly { readonly file: string }[],
  written: readonly WrittenObject[],
): void {
  for (const { file } of changes) {
    if (!file.endsWith('.fql'))
      throw new StartError(
        `${file} differs from the database, and only .fql files are written: change it by hand`,
      )
    if (written.filter(({ from }) => from.file === file).length > 1) {
      throw new StartError(
        `${file} holds several objects, of which one has changed: give each a file of its own`,
      )
    }
  }
}

// --------------------------------------------------------------------------------------------------- push

/** Files of version 10 are pushed by themselves: they are the whole schema of a repository that has any. */
async function push(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const files = readFslFiles(folder)
  return files.size > 0 ? pushFsl(files, connection, choice) : pushObjects(folder, connection, choice)
}

async function pushFsl(
  files: ReadonlyMap<string, string>,
  connection: QueryConnection,
  choice: PushChoice,
): Promise<number> {
  const plan = await planPush(files, choice.delete, connection)
  if (plan.isStaged)
    print('a schema is staged: what is pushed goes into it, and is in force once it is committed')
  if (plan.diff === '') print('unchanged')
  else process.stdout.write(plan.diff)
  if (plan.diff === '' && choice.dryRun) return 0
  const isToAsk = plan.diff !== ''
  if (isToAsk && !(await isConfirmed(choice, 'Make these changes?'))) return choice.dryRun ? 0 : 1
  await pushFiles(files, choice.delete, plan, connection)
  if (isToAsk) print('made the changes')
  return 0
}

async function pushObjects(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const content = readFolder(folder)
  const { objects: written, unread } = content
  showLeftOut(content)
  if (unread.length > 0 && choice.delete)
    throw new StartError('nothing was changed: --delete would remove what files that cannot be read make')
  if (written.length === 0) throw new StartError(`there are no files with schema objects in ${folder}`)
  const wanted = await evaluateObjects(written, connection)
  const plan = makePlan(wanted, written, await readSchema(connection), choice.delete)
  showPlan(plan, process.stdout)
  if (plan.changes.length === 0) return 0
  if (!(await isConfirmed(choice, `Make ${plan.changes.length} changes?`))) return choice.dryRun ? 0 : 1
  const steps = stepsOf(plan)
  const reply = await connection.query(new Map<string, Json>([['do', steps.map(({ query }) => query)]]))
  if (reply.kind === 'resource') {
    print(`made ${plan.changes.length} changes`)
    return 0
  }
  for (const error of reply.errors) {
    const written = steps[Number(error.position[1])]?.written
    if (written) showFaults(error, written)
    else process.stderr.write(`${error.code}: ${error.description}\n`)
  }
  process.stderr.write('terrarium: nothing was changed\n')
  return 1
}

/** Shows what is wrong with an object: each field that is not valid, or the part of the file that the error is about. */
function showFaults({ code, description, failures, position }: WireError, written: WrittenObject): void {
  const { from, place, source } = written
  const show = (message: string, at: TextRange) =>
    writeSyntaxError(new FqlSyntaxError(message, from.text, at), from, process.stderr, code)
  for (const failure of failures) {
    // Some fields are named from the beginning of the query.
    const field = failure.field[0] === 'do' ? failure.field.slice(2) : failure.field
    show(failureText({ ...failure, field }), fieldPlace(source, field))
  }
  const [, , key, ...rest] = position
  const isInParams = key === 'params' || String(key).startsWith('create_')
  if (failures.length === 0) show(description, isInParams ? source.at(rest) : place)
}

/** Where a field is written: in the object's literal, in which one thing may stand for an array of it. */
function fieldPlace(source: SourceNode, field: readonly string[]): TextRange {
  let node = source
  for (const step of field) {
    const { parts } = node.parts.get('object') ?? node
    const part = parts.get(step) ?? parts.get(Number(step))
    if (part) node = part
    else if (!/^[0-9]+$/.test(step)) break
  }
  return node
}

function showPlan({ changes, unchanged, extra }: SchemaPlan, output: Output): void {
  const style = styleFor(output)
  for (const change of changes) output.write(`${style(colourOf(change), visible(lineFor(change)))}\n`)
  for (const { kind, name } of extra) output.write(`? ${kind.name} ${name}: no file has it; it stays\n`)
  output.write(`${unchanged} unchanged\n`)
}

function colourOf({ action }: SchemaChange): 'green' | 'yellow' | 'red' {
  return action === 'create' ? 'green' : action === 'change' ? 'yellow' : 'red'
}

function lineFor(change: SchemaChange): string {
  if (change.action === 'delete') return `- ${change.present.kind.name} ${change.present.name}`
  const { kind, name } = change.wanted
  if (change.action === 'create') return `+ ${kind.name} ${name}`
  const effect = change.action === 'build again' ? ' (deleted and built again)' : ''
  return `~ ${kind.name} ${name}: ${change.fields.join(', ')}${effect}`
}

// ------------------------------------------------------------------------------------------------- shared

/** Names the files that are left out. */
function showLeftOut(content: FolderContent | undefined): void {
  for (const { error, from } of content?.unread ?? [])
    writeSyntaxError(error, from, process.stderr, 'left out, as scripts are not run')
  for (const folder of content?.children ?? [])
    process.stderr.write(`left out: ${folder} is the schema of a child database, and pushed by itself\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
