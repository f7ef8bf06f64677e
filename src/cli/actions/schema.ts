// Pulls the schema of a database into files, or pushes files to a database. Both show the changes before they make
// them.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../app/config/settings.ts'
import { FqlSyntaxError, type SourceNode, type TextRange } from '../../fql4/text/index.ts'
import { TransferError } from '../../transfer/record.ts'
import type { Json } from '../../values/value.ts'
import { withConnection } from '../client/connect.ts'
import type { QueryConnection, WireError } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { failureText, jsonText, writeError, writeSyntaxError } from '../client/report.ts'
import { StartError } from '../command.ts'
import {
  type FileObject,
  type FolderContent,
  fileOf,
  readFolder,
  SchemaFileError,
  writeObject,
} from '../schema/folder.ts'
import { hasVersion10, inFolder, planPull, readFslFiles, writeChanges } from '../schema/fsl-files.ts'
import { planPush, pushFiles } from '../schema/fsl-push.ts'
import { definingFields, idOf, type SchemaObject } from '../schema/kinds.ts'
import {
  makePlan,
  readSchema,
  type SchemaChange,
  type SchemaPlan,
  sameJson,
  stepsOf,
} from '../schema/plan.ts'
import { escapeHidden, isConfirmed, quantity, styleFor } from '../terminal.ts'
import { withTransferErrors } from '../transfer-errors.ts'

interface Choice {
  readonly dryRun: boolean
  readonly json: boolean
  readonly yes: boolean
}

/** The changes, and whether they were made, for `--json`. */
type Result = Readonly<Record<string, unknown>> & { readonly changes: readonly object[] | string }

interface PullChoice extends Choice {
  /**
   * Language version of the written files. `auto`: the version of the files in the folder; if there are none, the
   * version that the schema of the database needs.
   */
  readonly fql: string
}

interface PushChoice extends Choice {
  readonly delete: boolean
}

export function pullSchema(
  folder: string,
  choice: PullChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => pull(resolve(folder), connection, choice))
}

export function pushSchema(
  folder: string,
  choice: PushChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => push(resolve(folder), connection, choice))
}

/**
 * Checks the code of the stored schema, even if the database is not checked. Throws {@link StartError} with the errors.
 */
export function checkSchema(choice: ClientChoice, config: Config): Promise<number> {
  return withService(choice, config, async connection => {
    // Without files, the service validates the stored schema.
    await connection.schema('POST', 'validate?override=false', undefined, { 'x-typecheck': 'true' })
    process.stdout.write('no errors\n')
    return 0
  })
}

async function withService(
  choice: ClientChoice,
  config: Config,
  run: (connection: QueryConnection) => Promise<number>,
): Promise<number> {
  try {
    return await withTransferErrors(() => withConnection(choice, config, run))
  } catch (cause) {
    if (!(cause instanceof SchemaFileError)) throw cause
    writeSyntaxError(cause.error, cause.from, process.stderr, cause.title)
    return 2
  }
}

// --------------------------------------------------------------------------------------------------- pull

/** Uses the language version of {@link PullChoice.fql}. */
async function pull(folder: string, connection: QueryConnection, choice: PullChoice): Promise<number> {
  const isVersion10 =
    choice.fql === 'auto'
      ? readFslFiles(folder).size > 0 || (!hasObjects(folder) && (await hasVersion10(connection)))
      : choice.fql === '10'
  return isVersion10 ? pullFsl(folder, connection, choice) : pullObjects(folder, connection, choice)
}

/** True if the folder has files of version 4, even if they cannot be read. */
function hasObjects(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { objects, unread } = readFolder(folder)
  return objects.length + unread.length > 0
}

async function pullFsl(folder: string, connection: QueryConnection, choice: Choice): Promise<number> {
  const { changes, unknown } = await planPull(folder, connection)
  const print = printerFor(choice)
  const files = changes.map(({ isNew, name }) => ({ file: name, isNew }))
  showFiles(files, print)
  for (const name of unknown) print(`? ${escapeHidden(name)}: the database has no such file`)
  const result = { changes: files, unknown }
  return writeFiles(result, changes.some(isOverwritten), choice, () => writeChanges(changes))
}

async function pullObjects(folder: string, connection: QueryConnection, choice: Choice): Promise<number> {
  const present = await readSchema(connection)
  const content = existsSync(folder) ? readFolder(folder) : undefined
  const written = content?.objects ?? []
  const kept = new Map<string, { readonly object: SchemaObject; readonly file: string }>()
  for (const [index, object] of (await evaluateObjects(written, connection)).entries()) {
    kept.set(idOf(object), { object, file: (written[index] as FileObject).from.file })
  }
  const changes: { readonly object: SchemaObject; readonly file: string; readonly isNew: boolean }[] = []
  for (const object of present) {
    const other = kept.get(idOf(object))
    kept.delete(idOf(object))
    if (other && sameJson(object.fields, other.object.fields)) continue
    changes.push({ object, file: other?.file ?? fileOf(folder, object), isNew: !other })
  }
  checkWritable(changes, written)
  showSkipped(content)
  const print = printerFor(choice)
  const files = changes.map(({ file, isNew }) => ({ file, isNew }))
  const unchanged = present.length - changes.length
  showFiles(files, print)
  for (const { file, object } of kept.values())
    print(escapeHidden(`? ${file}: the database has no ${object.kind.name} ${object.name}`))
  print(`${unchanged} unchanged`)
  const overwrites = changes.some(({ file }) => existsSync(file))
  const result = { changes: files, unknown: Array.from(kept.values(), ({ file }) => file), unchanged }
  return writeFiles(result, overwrites, choice, () => {
    for (const { file, object } of changes) writeObject(file, object)
  })
}

const isOverwritten = ({ isNew }: { readonly isNew: boolean }) => !isNew

function showFiles(
  changes: readonly { readonly file: string; readonly isNew: boolean }[],
  print: (line: string) => void,
): void {
  const style = styleFor(process.stdout)
  for (const { file, isNew } of changes)
    print(style(isNew ? 'green' : 'yellow', `${isNew ? '+' : '~'} ${escapeHidden(file)}`))
}

/** Asks for confirmation before it overwrites a file. Resolves with the exit status. */
async function writeFiles(
  result: Result,
  overwrites: boolean,
  choice: Choice,
  write: () => void,
): Promise<number> {
  const count = result.changes.length
  if (count === 0) return concluded(choice, result, false, 0)
  const yes = choice.yes || !overwrites
  if (!(await isConfirmed({ ...choice, yes }, `Write ${quantity(count, 'file')}?`)))
    return concluded(choice, result, false, choice.dryRun ? 0 : 1)
  write()
  printerFor(choice)(`wrote ${quantity(count, 'file')}`)
  return concluded(choice, result, true, 0)
}

/** Throws for files that cannot be rewritten: files with several objects, and JavaScript files. */
function checkWritable(changes: readonly { readonly file: string }[], written: readonly FileObject[]): void {
  for (const { file } of changes) {
    if (!file.endsWith('.fql'))
      throw new StartError(
        `${file} differs from the database, and only .fql files can be written: change the file by hand`,
      )
    if (written.filter(({ from }) => from.file === file).length > 1) {
      throw new StartError(
        `${file} contains several objects, and one of them has changed: give each object a file of its own`,
      )
    }
  }
}

// --------------------------------------------------------------------------------------------------- push

/** Pushes only the files of version 10 if there are any, because they are the complete schema. */
async function push(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const files = readFslFiles(folder)
  if (files.size === 0) return pushObjects(folder, connection, choice)
  try {
    return await pushFsl(files, connection, choice)
  } catch (cause) {
    if (!(cause instanceof StartError || cause instanceof TransferError)) throw cause
    throw new StartError(inFolder(cause.message, folder, files))
  }
}

async function pushFsl(
  files: ReadonlyMap<string, string>,
  connection: QueryConnection,
  choice: PushChoice,
): Promise<number> {
  const plan = await planPush(files, choice.delete, connection)
  const print = printerFor(choice)
  const kept = choice.delete ? [] : plan.extra
  const result = { changes: plan.diff, unknown: kept, isStaged: plan.isStaged }
  if (plan.isStaged)
    print('a schema is staged: the files are staged with it, and take effect when it is committed')
  if (plan.diff === '') print('unchanged')
  else print(escapeHidden(plan.diff.trimEnd()))
  for (const { kind, name } of kept) print(escapeHidden(`? ${kind} ${name}: in no file, kept`))
  const hasChanges = plan.diff !== ''
  if (!hasChanges && choice.dryRun) return concluded(choice, result, false, 0)
  if (hasChanges && !(await isConfirmed(choice, 'Make these changes?')))
    return concluded(choice, result, false, choice.dryRun ? 0 : 1)
  await pushFiles(files, plan, connection)
  if (hasChanges) print('made the changes')
  return concluded(choice, result, hasChanges, 0)
}

async function pushObjects(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const content = readFolder(folder)
  const { objects: written, unread } = content
  showSkipped(content)
  if (unread.length > 0 && choice.delete)
    throw new StartError(
      'nothing was changed: --delete would delete the objects of files that cannot be read',
    )
  if (written.length === 0) throw new StartError(`there are no files with schema objects in ${folder}`)
  const wanted = await evaluateObjects(written, connection)
  const plan = makePlan(wanted, written, await readSchema(connection), choice.delete)
  const print = printerFor(choice)
  const result = planResult(plan)
  showPlan(plan, print)
  if (plan.changes.length === 0) return concluded(choice, result, false, 0)
  if (!(await isConfirmed(choice, `Make ${plan.changes.length} changes?`)))
    return concluded(choice, result, false, choice.dryRun ? 0 : 1)
  const steps = stepsOf(plan)
  const reply = await connection.query(new Map<string, Json>([['do', steps.map(({ query }) => query)]]))
  if (reply.kind === 'resource') {
    print(`made ${plan.changes.length} changes`)
    return concluded(choice, result, true, 0)
  }
  for (const error of reply.errors) {
    const written = steps[Number(error.position[1])]?.written
    if (written) showFaults(error, written)
    else writeError(error.code, error.description, process.stderr)
  }
  process.stderr.write('terrarium: nothing was changed\n')
  return 1
}

/** Also shows the invalid fields or the position of the error. */
function showFaults({ code, description, failures, position }: WireError, written: FileObject): void {
  const { from, place, source } = written
  const show = (message: string, at: TextRange) =>
    writeSyntaxError(new FqlSyntaxError(message, from.text, at), from, process.stderr, code)
  for (const failure of failures) {
    // The path of a field begins at the query or at the object. The first two steps of a path from the query are
    // removed.
    const field = failure.field[0] === 'do' ? failure.field.slice(2) : failure.field
    show(failureText({ ...failure, field }), fieldPlace(source, field))
  }
  const [, , key, ...rest] = position
  const isInParams = key === 'params' || String(key).startsWith('create_')
  if (failures.length === 0) show(description, isInParams ? source.at(rest) : place)
}

/** Skips the array index in `field` where the text contains a single element instead of an array. */
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

function showPlan({ changes, unchanged, extra }: SchemaPlan, print: (line: string) => void): void {
  const style = styleFor(process.stdout)
  for (const change of changes) print(style(colourOf(change), escapeHidden(lineFor(change))))
  for (const { kind, name } of extra) print(escapeHidden(`? ${kind.name} ${name}: in no file, kept`))
  print(`${unchanged} unchanged`)
}

function planResult({ changes, unchanged, extra }: SchemaPlan): Result {
  const named = ({ kind, name }: SchemaObject) => ({ kind: kind.name, name })
  return {
    changes: changes.map(change => ({
      action: change.action,
      ...named(change.action === 'delete' ? change.present : change.wanted),
      ...('fields' in change && { fields: change.fields }),
    })),
    unknown: extra.map(named),
    unchanged,
  }
}

function colourOf({ action }: SchemaChange): 'green' | 'yellow' | 'red' {
  return action === 'create' ? 'green' : action === 'change' ? 'yellow' : 'red'
}

function lineFor(change: SchemaChange): string {
  if (change.action === 'delete') return `- ${change.present.kind.name} ${change.present.name}`
  const { kind, name } = change.wanted
  if (change.action === 'create') return `+ ${kind.name} ${name}`
  const effect = change.action === 'rebuild' ? ' (deleted and built again)' : ''
  return `~ ${kind.name} ${name}: ${change.fields.join(', ')}${effect}`
}

// ------------------------------------------------------------------------------------------------- shared

function showSkipped(content: FolderContent | undefined): void {
  for (const { error, from } of content?.unread ?? [])
    writeSyntaxError(error, from, process.stderr, 'skipped, because scripts are not run')
  for (const folder of content?.children ?? [])
    process.stderr.write(
      `skipped: ${escapeHidden(folder)} is the schema of a child database; push it separately\n`,
    )
}

/** Prints lines for people; does nothing if the result is printed as JSON. */
function printerFor({ json }: Choice): (line: string) => void {
  return json ? () => {} : line => process.stdout.write(`${line}\n`)
}

/** Prints the result if the command has the flag `--json`. Returns the exit status. */
function concluded({ json }: Choice, result: Result, isDone: boolean, status: number): number {
  if (json) process.stdout.write(`${jsonText(JSON.stringify({ ...result, isDone }), process.stdout)}\n`)
  return status
}

/**
 * Returns the defining fields of the objects in files. The service evaluates the expressions in the files, but creates
 * nothing. Throws {@link SchemaFileError} if an expression fails.
 */
async function evaluateObjects(
  written: readonly FileObject[],
  connection: QueryConnection,
): Promise<readonly SchemaObject[]> {
  if (written.length === 0) return []
  const reply = await connection.query(written.map(({ params }) => params))
  if (reply.kind === 'errors') {
    const [error] = reply.errors
    const object = written[Number(error?.position[0] ?? 0)] as FileObject
    const { from, source } = object
    const place = source.at(error?.position.slice(1) ?? [])
    const mistake = new FqlSyntaxError(error?.description ?? '', from.text, place)
    throw new SchemaFileError(from, mistake, error?.code)
  }
  const values = reply.resource as readonly Json[]
  return written.map(({ kind, name }, index) => {
    // Every value is an object, because every query was an object literal.
    const fields = withoutTag(values[index] as ReadonlyMap<string, Json>)
    return { kind, name, fields: definingFields(kind, withoutNulls(fields)) }
  })
}

/** The wire format wraps an object in `@obj` if one of its keys begins with @. */
function withoutTag(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const wrapped = fields.size === 1 ? fields.get('@obj') : undefined
  return wrapped instanceof Map ? wrapped : fields
}

/** A null field is an absent field. */
function withoutNulls(fields: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  return new Map([...fields].filter(([, value]) => value !== null))
}
