// Pushes the schema in files to a database. Shows the changes before it makes them.

import { FqlSyntaxError, type SourceNode, type TextRange } from '../../fql4/text/index.ts'
import { TransferError } from '../../transfer/record.ts'
import type { Json } from '../../values/value.ts'
import type { QueryConnection, WireError } from '../client/connection.ts'
import { failureText, writeError, writeSyntaxError } from '../client/report.ts'
import { CommandError } from '../command.ts'
import { evaluateObjects } from '../schema/evaluate-objects.ts'
import { type FileObject, readFolder } from '../schema/folder.ts'
import { inFolder, readFslFiles } from '../schema/fsl-files.ts'
import { planPush, pushFiles } from '../schema/fsl-push.ts'
import type { SchemaObject } from '../schema/kinds.ts'
import { makePlan, readSchema, type SchemaChange, type SchemaPlan, stepsOf } from '../schema/plan.ts'
import {
  printerFor,
  reportOutcome,
  type SchemaChoice,
  type SchemaResult,
  showSkipped,
} from '../schema/schema-report.ts'
import { escapeHidden, isConfirmed, styleFor } from '../terminal.ts'

export interface PushChoice extends SchemaChoice {
  readonly delete: boolean
}

/** Pushes only the files of version 10 if there are any, because they are the complete schema. */
export async function push(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const files = readFslFiles(folder)
  if (files.size === 0) return pushObjects(folder, connection, choice)
  try {
    return await pushFsl(files, connection, choice)
  } catch (cause) {
    if (!(cause instanceof CommandError || cause instanceof TransferError)) throw cause
    throw new CommandError(inFolder(cause.message, folder, files))
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
  if (!hasChanges && choice.dryRun) return reportOutcome(choice, result, false, 0)
  if (hasChanges && !(await isConfirmed(choice, 'Make these changes?')))
    return reportOutcome(choice, result, false, choice.dryRun ? 0 : 1)
  // Without changes, the files may still differ in comments or layout, which the service stores, too.
  await pushFiles(files, plan, connection)
  if (hasChanges) print('made the changes')
  return reportOutcome(choice, result, hasChanges, 0)
}

async function pushObjects(folder: string, connection: QueryConnection, choice: PushChoice): Promise<number> {
  const content = readFolder(folder)
  const { objects: written, unread } = content
  showSkipped(content)
  if (unread.length > 0 && choice.delete)
    throw new CommandError(
      'nothing was changed: --delete would delete the objects of files that cannot be read',
    )
  if (written.length === 0) throw new CommandError(`there are no files with schema objects in ${folder}`)
  const wanted = await evaluateObjects(written, connection)
  const plan = makePlan(wanted, written, await readSchema(connection), choice.delete)
  const print = printerFor(choice)
  const result = planResult(plan)
  showPlan(plan, print)
  if (plan.changes.length === 0) return reportOutcome(choice, result, false, 0)
  if (!(await isConfirmed(choice, `Make ${plan.changes.length} changes?`)))
    return reportOutcome(choice, result, false, choice.dryRun ? 0 : 1)
  const steps = stepsOf(plan)
  const reply = await connection.query(new Map<string, Json>([['do', steps.map(({ query }) => query)]]))
  if (reply.kind === 'resource') {
    print(`made ${plan.changes.length} changes`)
    return reportOutcome(choice, result, true, 0)
  }
  for (const error of reply.errors) {
    const object = steps[Number(error.position[1])]?.written
    if (object) showFaults(error, object)
    else writeError(error.code, error.description, process.stderr)
  }
  process.stderr.write('terrarium: nothing was changed\n')
  return 1
}

/** Also shows the invalid fields or the position of the error. */
function showFaults({ code, description, failures, position }: WireError, written: FileObject): void {
  const { from, range, source } = written
  const show = (message: string, at: TextRange) =>
    writeSyntaxError(new FqlSyntaxError(message, from.text, at), from, process.stderr, code)
  for (const failure of failures) {
    // The path of a field begins at the query or at the object. The first two steps of a path from the query are
    // removed.
    const field = failure.field[0] === 'do' ? failure.field.slice(2) : failure.field
    show(failureText({ ...failure, field }), fieldRange(source, field))
  }
  const [, , key, ...rest] = position
  const isInParams = key === 'params' || String(key).startsWith('create_')
  if (failures.length === 0) show(description, isInParams ? source.at(rest) : range)
}

/** Skips the array index in `field` where the text contains a single element instead of an array. */
function fieldRange(source: SourceNode, field: readonly string[]): TextRange {
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

function planResult({ changes, unchanged, extra }: SchemaPlan): SchemaResult {
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
