// Reads, compares, pushes and stages the schema files of version 10 through the endpoints of `/schema/1`.

import { currentSecret } from '../session.ts'
import { ChangedError, type SaveOutcome } from './checked-writes.ts'
import { callApi } from './client.ts'
import { ServiceError } from './faults.ts'

export interface SchemaFile {
  readonly name: string
  readonly text: string
}

interface StagedSchema {
  /** State of the index builds. The staged schema can be committed when it is `ready`. */
  readonly status: 'pending' | 'ready' | 'failed'
  /** Pending index builds, as text. */
  readonly pending: string
  /** Changes that a commit would make, as text. */
  readonly diff: string
  /** Why the staged schema no longer fits the data and cannot be committed; undefined if it fits. */
  readonly refusal: string | undefined
}

export interface SchemaState {
  /** Time of the last schema change, in microseconds. */
  readonly version: number
  /** Files of the staged schema if there is one, else of the active schema. Sorted by name. */
  readonly files: readonly SchemaFile[]
  readonly staged: StagedSchema | undefined
}

/** The service has rejected schema files. */
export class SchemaRejection extends Error {
  override name = 'SchemaRejection'
  /** Errors with excerpts of the files, as the service returns them. */
  readonly drawn: string

  constructor(
    drawn: string,
    message = 'The service rejected this schema. Nothing was changed. Correct the errors below.',
  ) {
    super(message)
    this.drawn = drawn
  }
}

type Parameters = Readonly<Record<string, string>>

function pathOf(endpoint: string, parameters: Parameters): string {
  return `/schema/1/${endpoint}?${new URLSearchParams(parameters)}`
}

async function send<T>(
  endpoint: string,
  parameters: Parameters,
  files: readonly SchemaFile[] | undefined,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const form = new FormData()
  // Blobs preserve line ends, which form fields with text would convert.
  for (const { name, text } of files ?? []) form.append(name, new Blob([text]))
  try {
    const path = pathOf(endpoint, parameters)
    return await callApi<T>('POST', path, currentSecret.value, files && form, signal, headers)
  } catch (cause) {
    throw cause instanceof ServiceError && cause.status === 400 ? new SchemaRejection(cause.message) : cause
  }
}

function get<T>(endpoint: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
  return callApi<T>('GET', pathOf(endpoint, parameters), currentSecret.value, undefined, signal)
}

/** Colours mark added, removed and changed lines. */
const inColours = { color: 'ansi' } as const

interface StatusBody {
  readonly version: number
  readonly status: 'none' | StagedSchema['status']
  readonly pending_summary?: string
  readonly diff?: string
}

async function readStaged(signal: AbortSignal): Promise<StagedSchema | undefined> {
  const { status } = await get<StatusBody>('status', {}, signal)
  if (status === 'none') return undefined
  try {
    const body = await get<StatusBody>('status', { format: 'semantic', ...inColours }, signal)
    return { status, pending: body.pending_summary ?? '', diff: body.diff ?? '', refusal: undefined }
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.status !== 400) throw cause
    return { status, pending: '', diff: '', refusal: cause.message }
  }
}

/** Concurrent requests. */
const filesAtOnce = 8

/** Throws {@link ServiceError}, with status 409 when the schema changes in the meantime. */
async function readOnce(signal: AbortSignal): Promise<SchemaState> {
  const staged = await readStaged(signal)
  const which: Parameters = staged ? { staged: 'true' } : {}
  const list = await get<{ version: number; files: { filename: string }[] }>('files', which, signal)
  const names = list.files.map(({ filename }) => filename).sort()
  const checked = { ...which, version: String(list.version) }
  const files: SchemaFile[] = []
  for (let from = 0; from < names.length; from += filesAtOnce) {
    const some = names.slice(from, from + filesAtOnce).map(async name => {
      const path = `files/${encodeURIComponent(name)}`
      return { name, text: (await get<{ content: string }>(path, checked, signal)).content }
    })
    files.push(...(await Promise.all(some)))
  }
  return { version: list.version, files, staged }
}

function isStale(cause: unknown): boolean {
  return cause instanceof ServiceError && cause.status === 409
}

/**
 * Reads all files at one version. Retries once when the schema changes in the meantime. Throws {@link ServiceError}.
 */
export function readSchemaFiles(signal: AbortSignal): Promise<SchemaState> {
  return readOnce(signal).catch(cause => {
    if (!isStale(cause)) throw cause
    return readOnce(signal)
  })
}

/** Compares names and texts. */
export function areSame(left: readonly SchemaFile[], right: readonly SchemaFile[]): boolean {
  if (left.length !== right.length) return false
  const texts = new Map(right.map(({ name, text }) => [name, text]))
  return left.every(({ name, text }) => texts.get(name) === text)
}

/** Identifies a state by its version, its files and whether they are staged, not by the progress of index builds. */
export function identityOf({ version, files, staged }: SchemaState): string {
  return JSON.stringify([version, staged !== undefined, files])
}

/** A three-way merge with the common ancestor `base`: `mine` with the files that only `theirs` has changed. */
export function mergeFiles(
  mine: readonly SchemaFile[],
  base: readonly SchemaFile[],
  theirs: readonly SchemaFile[],
): readonly SchemaFile[] {
  const textsOf = (files: readonly SchemaFile[]) => new Map(files.map(({ name, text }) => [name, text]))
  const [own, before, others] = [textsOf(mine), textsOf(base), textsOf(theirs)]
  const result: SchemaFile[] = []
  for (const name of [...new Set([...own.keys(), ...others.keys()])].sort()) {
    const text = own.get(name) === before.get(name) ? others.get(name) : own.get(name)
    if (text !== undefined) result.push({ name, text })
  }
  return result
}

export interface SchemaDifference {
  /** Changed definitions. */
  readonly semantic: string
  /** Changed lines. */
  readonly textual: string
}

/** Throws {@link SchemaRejection} for files that cannot be pushed. */
export async function compareFiles(
  files: readonly SchemaFile[],
  { staged }: SchemaState,
  signal: AbortSignal,
): Promise<SchemaDifference> {
  const against: Parameters = staged ? { staged: 'true' } : {}
  const diffIn = (format: string) =>
    send<{ diff: string }>('diff', { ...against, format, ...inColours }, files, signal)
  const semantic = await diffIn('semantic')
  return { semantic: semantic.diff, textual: (await diffIn('textual')).diff }
}

/**
 * Checks the types in these files, even if the database is not checked. Nothing is written. Throws {@link
 * SchemaRejection} with all errors.
 */
export async function checkFiles(
  files: readonly SchemaFile[],
  { staged }: SchemaState,
  signal: AbortSignal,
): Promise<void> {
  const against: Parameters = staged ? { staged: 'true' } : {}
  try {
    await send('validate', against, files, signal, { 'x-typecheck': 'true' })
  } catch (cause) {
    if (!(cause instanceof SchemaRejection)) throw cause
    throw new SchemaRejection(
      cause.drawn,
      'The schema has errors. They are marked in the files, and listed below.',
    )
  }
}

/**
 * Pushes these files as the whole schema, or as the staged schema. Returns a conflict if the schema or a text has
 * changed since `base`. Throws {@link SchemaRejection}.
 */
export async function pushFiles(
  files: readonly SchemaFile[],
  base: SchemaState,
  isStaging: boolean,
  signal: AbortSignal,
): Promise<SaveOutcome<SchemaState>> {
  // Changes of comments and layout do not change the version, so the texts are also compared.
  const now = await readSchemaFiles(signal)
  const isOther = now.version !== base.version || (now.staged === undefined) !== (base.staged === undefined)
  if (isOther || !areSame(now.files, base.files)) return { kind: 'conflict', theirs: now }
  const parameters = { version: String(base.version), ...(isStaging && { staged: 'true' }) }
  try {
    await send('update', parameters, files, signal)
  } catch (cause) {
    if (!isStale(cause)) throw cause
    return { kind: 'conflict', theirs: await readSchemaFiles(signal) }
  }
  return { kind: 'saved', version: await readSchemaFiles(signal) }
}

/** Commits or abandons the staged schema that was read. Throws {@link ChangedError}, {@link SchemaRejection}. */
export async function endStaged(
  how: 'commit' | 'abandon',
  { version }: SchemaState,
  signal: AbortSignal,
): Promise<void> {
  try {
    await send(how, { version: String(version) }, undefined, signal)
  } catch (cause) {
    throw isStale(cause) ? new ChangedError() : cause
  }
}

/** Returns the collections that a push deletes with their documents. */
export function removedCollections({ semantic }: SchemaDifference): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI colours begin with a control character.
  return [...semantic.matchAll(/^(?:\u001b\[[\d;]+m)?\* Removing collection `([^`]+)`/gm)].map(
    ([, name = '']) => name,
  )
}

/** Returns the warnings of the service about the changes of a push. A warning can have several lines. */
export function warningsIn({ semantic }: SchemaDifference): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI colours begin with a control character.
  const [, warnings = ''] = /\* Warnings:(?:\u001b\[0m)?\n(.*)/s.exec(semantic) ?? []
  return warnings.trimEnd()
}

/** Line and column are counted from 1. */
export interface SchemaError {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Characters; 0 for an error over several lines. */
  readonly length: number
  readonly message: string
}

const errorPattern = /^error: (.*)\nat (.+):(\d+):(\d+)(?:\n *\|\n *\d+ \|.*\n *\| *(\^+))?/gm

/** Errors with a position in `drawn`, a text from the service. */
export function errorsIn(drawn: string): readonly SchemaError[] {
  return [...drawn.matchAll(errorPattern)].map(
    ([, message = '', file = '', line = '', column = '', marked = '']) => ({
      file,
      line: Number(line),
      column: Number(column),
      length: marked.length,
      message,
    }),
  )
}
