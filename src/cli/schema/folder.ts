// Reads and writes schema objects as files, an object per file: `collections/users.fql` contains
// `CreateCollection({…})`. Also reads files with several objects, files in deeper folders, and the folders
// `fauna/resources` or `resources` of the old schema-migrate tool. JavaScript files in these two folders are read if
// they only declare an object.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import {
  FqlSyntaxError,
  parseExpressions,
  parseModule,
  printValue,
  type SourceNode,
  type TextRange,
} from '../../fql4/text/index.ts'
import { memberOf } from '../../transfer/references.ts'
import type { Json } from '../../values/value.ts'
import type { QuerySource } from '../client/report.ts'
import { CommandError, withFile } from '../command.ts'
import { idOf, kindCreatedBy, kinds, type ObjectKind, type SchemaObject } from './kinds.ts'

export interface FileObject {
  readonly kind: ObjectKind
  readonly name: string
  /** The expression for the object's fields, which is not evaluated yet. */
  readonly params: Json
  readonly from: QuerySource & { readonly file: string }
  /** The part of the file that contains the object. */
  readonly range: TextRange
  /** Finds the parts of `params` in the file. */
  readonly source: SourceNode
}

export class SchemaFileError extends Error {
  override name = 'SchemaFileError'
  readonly from: QuerySource
  readonly error: FqlSyntaxError
  readonly title: string
  constructor(from: QuerySource, error: FqlSyntaxError, title = 'syntax error') {
    super(error.message)
    this.title = title
    this.from = from
    this.error = error
  }
}

export interface FolderContent {
  readonly objects: readonly FileObject[]
  /** JavaScript files that cannot be read without executing them. */
  readonly unread: readonly SchemaFileError[]
  /** Folders of child databases, which have separate schemas. */
  readonly children: readonly string[]
}

/** Folders of the old schema-migrate tool, with an object per file. */
const olderFolders = ['fauna/resources', 'resources']
/** Folder of the schema-migrate tool with the resources of child databases. */
const childFolder = 'dbs'
const scriptName = /\.[cm]?[jt]s$/

/** Throws {@link CommandError} and {@link SchemaFileError}. */
export function readFolder(folder: string): FolderContent {
  if (!existsSync(folder)) throw new CommandError(`there is no folder ${folder}`)
  const older = olderFolders.map(name => join(folder, name)).find(existsSync)
  // Outside of `resources` folders, JavaScript files belong to the user's application, not to a schema.
  const hasScripts = older !== undefined || resolve(folder).split(sep).includes('resources')
  const children = new Set<string>()
  const objects: FileObject[] = []
  const unread: SchemaFileError[] = []
  for (const file of filesOf(older ?? folder, hasScripts)) {
    const child = hasScripts && childOf(older ?? folder, file)
    if (child) {
      children.add(child)
      continue
    }
    try {
      objects.push(...readObjects(file))
    } catch (cause) {
      if (!(cause instanceof SchemaFileError && scriptName.test(file))) throw cause
      unread.push(cause)
    }
  }
  const seen = new Map<string, FileObject>()
  for (const object of objects) {
    const other = seen.get(idOf(object))
    if (other)
      throw duplicate(object, `the ${object.kind.name} ${object.name} is already in ${other.from.file}`)
    seen.set(idOf(object), object)
  }
  return { objects, unread, children: [...children] }
}

/** The folder of the child database whose schema contains the file, if any. */
function childOf(folder: string, file: string): string | undefined {
  const steps = relative(folder, file).split(sep)
  const at = steps.indexOf(childFolder)
  return at < 0 ? undefined : relative('.', join(folder, ...steps.slice(0, at + 2)))
}

/** Includes JavaScript files only if `hasScripts` is true. */
function filesOf(folder: string, hasScripts: boolean): readonly string[] {
  const entries = withFile(folder, 'read', () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }),
  )
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(file => file.endsWith('.fql') || (hasScripts && scriptName.test(file)))
    .map(file => relative('.', file))
    .sort()
}

function readObjects(file: string): readonly FileObject[] {
  const text = withFile(file, 'read', () => readFileSync(file, 'utf8'))
  const from = { text, file }
  try {
    const expressions = scriptName.test(file) ? [parseModule(text)] : parseExpressions(text)
    return expressions.map(({ json, source }) => readObject(json, source, from))
  } catch (cause) {
    if (cause instanceof FqlSyntaxError) throw new SchemaFileError(from, cause)
    throw cause
  }
}

function readObject(json: Json, range: SourceNode, from: FileObject['from']): FileObject {
  const [key, params] = json instanceof Map && json.size === 1 ? ([...json][0] ?? []) : []
  const kind = key === undefined ? undefined : kindCreatedBy(key)
  if (!kind || params === undefined) {
    const calls = kinds.map(({ createName }) => createName).join(', ')
    throw new FqlSyntaxError(`a schema file may only contain calls of ${calls}`, from.text, range)
  }
  const name = memberOf(params, 'object', 'name')
  if (typeof name !== 'string') {
    throw new FqlSyntaxError(`the ${kind.name} has no name: {name: "…"}`, from.text, range)
  }
  return { kind, name, params, from, range, source: range.at([key ?? '']) }
}

function duplicate({ from, range }: FileObject, message: string): SchemaFileError {
  return new SchemaFileError(from, new FqlSyntaxError(message, from.text, range), 'duplicate object')
}

/** Names are encoded, because they may contain characters that file systems do not allow. */
export function fileOf(folder: string, { kind, name }: Pick<SchemaObject, 'kind' | 'name'>): string {
  const safe = encodeURIComponent(name).replace(/^\.+$/, dots => dots.replaceAll('.', '%2E'))
  return relative('.', join(folder, kind.listing, `${safe}.fql`))
}

/** Throws {@link CommandError}. */
export function writeObject(file: string, { kind, fields }: SchemaObject): void {
  withFile(file, 'written', () => {
    mkdirSync(dirname(file), { recursive: true })
    // A line break before the bracket would end the expression.
    writeFileSync(file, `${kind.createName}(${printValue(fields)})\n`)
  })
}
