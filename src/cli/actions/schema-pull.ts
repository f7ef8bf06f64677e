// Writes the schema of a database into files. Shows the changes before it makes them.

import { existsSync } from 'node:fs'
import type { QueryConnection } from '../client/connection.ts'
import { CommandError } from '../command.ts'
import { evaluateObjects } from '../schema/evaluate-objects.ts'
import { type FileObject, fileOf, readFolder, writeObject } from '../schema/folder.ts'
import { hasVersion10, planPull, readFslFiles, writeChanges } from '../schema/fsl-files.ts'
import { idOf, type SchemaObject } from '../schema/kinds.ts'
import { readSchema, sameJson } from '../schema/plan.ts'
import {
  printerFor,
  reportOutcome,
  type SchemaChoice,
  type SchemaResult,
  showSkipped,
} from '../schema/schema-report.ts'
import { escapeHidden, isConfirmed, quantity, styleFor } from '../terminal.ts'

export interface PullChoice extends SchemaChoice {
  /**
   * Language version of the written files. `auto`: the version of the files in the folder; if there are none, the
   * version that the schema of the database needs.
   */
  readonly fql: string
}

/** Uses the language version of {@link PullChoice.fql}. */
export async function pull(folder: string, connection: QueryConnection, choice: PullChoice): Promise<number> {
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

async function pullFsl(folder: string, connection: QueryConnection, choice: SchemaChoice): Promise<number> {
  const { changes, unknown } = await planPull(folder, connection)
  const print = printerFor(choice)
  const files = changes.map(({ isNew, name }) => ({ file: name, isNew }))
  showFiles(files, print)
  for (const name of unknown) print(`? ${escapeHidden(name)}: the database has no such file`)
  const result = { changes: files, unknown }
  return writeFiles(
    result,
    changes.some(({ isNew }) => !isNew),
    choice,
    () => writeChanges(changes),
  )
}

async function pullObjects(
  folder: string,
  connection: QueryConnection,
  choice: SchemaChoice,
): Promise<number> {
  const present = await readSchema(connection)
  const content = existsSync(folder) ? readFolder(folder) : undefined
  const localObjects = content?.objects ?? []
  const unmatched = new Map<string, { readonly object: SchemaObject; readonly path: string }>()
  for (const [index, object] of (await evaluateObjects(localObjects, connection)).entries()) {
    unmatched.set(idOf(object), { object, path: (localObjects[index] as FileObject).from.file })
  }
  const changes: { readonly object: SchemaObject; readonly path: string; readonly isNew: boolean }[] = []
  for (const object of present) {
    const other = unmatched.get(idOf(object))
    unmatched.delete(idOf(object))
    if (other && sameJson(object.fields, other.object.fields)) continue
    changes.push({ object, path: other?.path ?? fileOf(folder, object), isNew: !other })
  }
  checkWritable(changes, localObjects)
  showSkipped(content)
  const print = printerFor(choice)
  const files = changes.map(({ path, isNew }) => ({ file: path, isNew }))
  const unchanged = present.length - changes.length
  showFiles(files, print)
  for (const { path, object } of unmatched.values())
    print(escapeHidden(`? ${path}: the database has no ${object.kind.name} ${object.name}`))
  print(`${unchanged} unchanged`)
  const overwrites = changes.some(({ path }) => existsSync(path))
  const result = { changes: files, unknown: Array.from(unmatched.values(), ({ path }) => path), unchanged }
  return writeFiles(result, overwrites, choice, () => {
    for (const { path, object } of changes) writeObject(path, object)
  })
}

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
  result: SchemaResult,
  overwrites: boolean,
  choice: SchemaChoice,
  write: () => void,
): Promise<number> {
  const count = result.changes.length
  if (count === 0) return reportOutcome(choice, result, false, 0)
  const yes = choice.yes || !overwrites
  if (!(await isConfirmed({ ...choice, yes }, `Write ${quantity(count, 'file')}?`)))
    return reportOutcome(choice, result, false, choice.dryRun ? 0 : 1)
  write()
  printerFor(choice)(`wrote ${quantity(count, 'file')}`)
  return reportOutcome(choice, result, true, 0)
}

/** Throws for files that cannot be rewritten: files with several objects, and JavaScript files. */
function checkWritable(
  changes: readonly { readonly path: string }[],
  localObjects: readonly FileObject[],
): void {
  for (const { path } of changes) {
    if (!path.endsWith('.fql'))
      throw new CommandError(
        `${path} differs from the database, and only .fql files can be written: change the file by hand`,
      )
    if (localObjects.filter(({ from }) => from.file === path).length > 1) {
      throw new CommandError(
        `${path} contains several objects, and one of them has changed: give each object a file of its own`,
      )
    }
  }
}
