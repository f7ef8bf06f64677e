// Plans and makes pushes of `.fsl` files. Unless the user wants deletions, a push keeps the objects of the database
// that are in no file of the folder. The service replaces whole files, so the push also sends the texts of these
// objects.

import { TextEdits } from '../../fql10/schema/fsl/edit.ts'
import { parseFsl } from '../../fql10/schema/fsl/parse-file.ts'
import { itemKey, rangeWithComment } from '../../fql10/schema/fsl/patch.ts'
import type { SchemaItem } from '../../fql10/schema/fsl/schema-items.ts'
import { Source } from '../../fql10/syntax/source.ts'
import { type FslFile, readFsl } from '../../transfer/fsl.ts'
import { TransferError } from '../../transfer/record.ts'
import { type QueryConnection, SchemaConflictError } from '../client/connection.ts'
import { CommandError } from '../command.ts'
import { databaseFiles, type SchemaFiles } from './fsl-files.ts'

interface NamedItem {
  readonly kind: SchemaItem['kind']
  readonly name: string
}

/** `version`: the version of the schema to which the changes apply. */
interface PushPlan {
  /** The files of the folder, and files with objects that the push keeps. */
  readonly files: SchemaFiles
  /** True if the push deletes all objects that are not in {@link files}. */
  readonly isWhole: boolean
  /** The changes as the service describes them; empty if nothing changes. */
  readonly diff: string
  readonly version: number
  /** True if a schema is staged: the push changes the staged schema. */
  readonly isStaged: boolean
  /** Objects that are in no file of the folder. If `isWhole` is true, the push deletes them. */
  readonly extra: readonly NamedItem[]
}

/** Holds kept objects whose own files the push replaces. */
const remainingFile = 'kept.fsl'

/** Maximum number of attempts to plan a push while the schema changes. */
const attemptsMax = 5

/**
 * If `isWhole` is true, the push deletes objects that are in no file. Throws {@link CommandError} or {@link
 * TransferError} with the errors in the files.
 */
export async function planPush(
  files: SchemaFiles,
  isWhole: boolean,
  connection: QueryConnection,
): Promise<PushPlan> {
  for (let attempt = 1; ; attempt++) {
    const { isStaged, version } = await schemaStatus(connection)
    const stored = (await databaseFiles(connection, isStaged)).map(readStored)
    const { error, local } = readLocal(files)
    const sent = isWhole || error ? files : withRemaining(files, local, stored)
    const path = `diff?override=${isWhole}&staged=${isStaged}`
    const response = await connection.schema('POST', path, sent)
    // The service has accepted a file that this program cannot read, so the objects in no file are unknown.
    if (error) throw error
    const plan = {
      files: sent,
      isWhole,
      isStaged,
      diff: response.text('diff'),
      version: response.integer('version'),
    }
    const known = keysOf(local)
    const extra = stored.flatMap(({ items }) => items).filter(item => !known.has(itemKey(item)))
    // The stored files are those of `version`, and the diff may already be one of a later version.
    if (plan.version === version)
      return { ...plan, extra: extra.map(({ kind, name }) => ({ kind, name: name.text })) }
    if (attempt === attemptsMax) throw new CommandError('the schema changes all the time: try again later')
  }
}

/**
 * Makes the changes of a plan. The version of the schema also changes when another client changes an object that this
 * push keeps, so a changed version leads to a new plan. Throws {@link CommandError} if the new plan has other changes.
 */
export async function pushFiles(
  files: SchemaFiles,
  plan: PushPlan,
  connection: QueryConnection,
): Promise<void> {
  const { isWhole } = plan
  for (let attempt = 1, now = plan; ; attempt++) {
    try {
      await connection.schema('POST', `update?override=${isWhole}&version=${now.version}`, now.files)
      return
    } catch (cause) {
      if (!(cause instanceof SchemaConflictError) || attempt === attemptsMax) throw cause
      now = await planPush(files, isWhole, connection)
      if (now.diff !== plan.diff || now.isStaged !== plan.isStaged)
        throw new CommandError('the schema has changed since the changes were listed: run the command again')
    }
  }
}

async function schemaStatus(connection: QueryConnection): Promise<Pick<PushPlan, 'isStaged' | 'version'>> {
  const response = await connection.schema('GET', 'status')
  return { isStaged: response.text('status') !== 'none', version: response.integer('version') }
}

/** The service keeps objects in a file with syntax errors, so such a file counts as empty. */
function readStored({ name, text }: Pick<FslFile, 'name' | 'text'>): FslFile {
  const { faults, items } = parseFsl(new Source(name, text))
  return { name, text, items: faults.length > 0 ? [] : items }
}

/** `error`: why a file cannot be parsed. */
function readLocal(files: SchemaFiles): {
  readonly local: readonly FslFile[]
  readonly error?: TransferError
} {
  try {
    return { local: Array.from(files, ([name, text]) => readFsl(name, text)) }
  } catch (error) {
    if (error instanceof TransferError) return { local: [], error }
    throw error
  }
}

function keysOf(files: readonly FslFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ items }) => items.map(itemKey)))
}

/**
 * Adds files that keep the objects in no file of the folder. A stored file with the name of a local file is replaced,
 * so its other objects move to {@link remainingFile}. Other stored files stay, without the objects that the folder contains.
 */
function withRemaining(
  files: SchemaFiles,
  local: readonly FslFile[],
  stored: readonly FslFile[],
): SchemaFiles {
  const known = keysOf(local)
  const sent = new Map(files)
  const moved: string[] = []
  for (const { items, name, text } of stored) {
    const extra = items.filter(item => !known.has(itemKey(item)))
    if (files.has(name)) moved.push(...extra.map(item => textOf(item, text)))
    else if (extra.length < items.length) {
      const edits = new TextEdits()
      for (const item of items) if (known.has(itemKey(item))) edits.cut(rangeWithComment(item))
      // A push deletes files with empty texts.
      sent.set(name, extra.length === 0 ? '' : edits.applied(text))
    }
  }
  if (moved.length > 0) {
    const existing = sent.get(remainingFile) ?? stored.find(({ name }) => name === remainingFile)?.text ?? ''
    sent.set(
      remainingFile,
      [existing.trimEnd(), ...moved]
        .filter(text => text !== '')
        .join('\n\n')
        .concat('\n'),
    )
  }
  return sent
}

function textOf(item: SchemaItem, text: string): string {
  const { end, start } = rangeWithComment(item)
  return text.slice(start, end)
}
