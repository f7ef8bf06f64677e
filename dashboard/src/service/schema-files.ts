// The schema files of version 10 of a database: read, compared, pushed, staged. All go through `/schema/1`.

import { scope } from '../session.ts'
import { ChangedError, type Saved } from './checked.ts'
import { callApi } from './client.ts'
import { ServiceError } from './faults.ts'

export interface SchemaFile {
  readonly name: string
  readonly text: string
}

/** A schema that waits for being committed. */
interface Staged {
  /** Whether its indexes are built: it can be committed when `ready`. */
  readonly status: 'pending' | 'ready' | 'failed'
  /** Which indexes are not built yet, as text. */
  readonly pending: string
  /** What committing it would change, as text. */
  readonly diff: string
  /** Why it does not fit the data any more; it then cannot be committed. */
  readonly refusal: string | undefined
}

/** The files as they were read. */
export interface SchemaState {
  /** Microseconds of the last change of the schema. */
  readonly version: number
  /** The staged files while a schema is staged, else those in force; by name. */
  readonly files: readonly SchemaFile[]
  readonly staged: Staged | undefined
}

/** A schema that the service does not take: what is wrong with it, and where. */
export class SchemaRefusal extends Error {
  override name = 'SchemaRefusal'
  /** The errors as the service draws them. */
  readonly drawn: string

  constructor(drawn: string) {
    super('The service does not take this schema. Nothing was changed.')
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
): Promise<T> {
  const form = new FormData()
  // As texts their line ends would be changed on the way; the bytes of a blob are not.
  for (const { name, text } of files ?? []) form.append(name, new Blob([text]))
  try {
    return await callApi<T>('POST', pathOf(endpoint, parameters), scope.value, files && form, signal)
  } catch (cause) {
    throw cause instanceof ServiceError && cause.status === 400 ? new SchemaRefusal(cause.message) : cause
  }
}

function get<T>(endpoint: string, parameters: Parameters, signal: AbortSignal): Promise<T> {
  return callApi<T>('GET', pathOf(endpoint, parameters), scope.value, undefined, signal)
}

/** Differences come with the colours of terminals: they tell which lines were added, removed and changed. */
const inColours = { color: 'ansi' } as const

interface StatusAnswer {
  readonly version: number
  readonly status: 'none' | Staged['status']
  readonly pending_summary?: string
  readonly diff?: string
}

async function readStaged(signal: AbortSignal): Promise<Staged | undefined> {
  const { status } = await get<StatusAnswer>('status', {}, signal)
  if (status === 'none') return undefined
  try {
    const told = await get<StatusAnswer>('status', { format: 'semantic', ...inColours }, signal)
    return { status, pending: told.pending_summary ?? '', diff: told.diff ?? '', refusal: undefined }
  } catch (cause) {
    if (!(cause instanceof ServiceError) || cause.status !== 400) throw cause
    return { status, pending: '', diff: '', refusal: cause.message }
  }
}

/** So many files are asked for at once. */
const filesAtOnce = 8

/** Reads all files. Throws {@link ServiceError}, with status 409 when the schema changes meanwhile. */
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

/** Reads all files, all of one version. Throws {@link ServiceError}. */
export function readSchemaFiles(signal: AbortSignal): Promise<SchemaState> {
  return readOnce(signal).catch(cause => {
    if (!isStale(cause)) throw cause
    return readOnce(signal)
  })
}

/** Whether both are the same files with the same texts. */
export function areSame(left: readonly SchemaFile[], right: readonly SchemaFile[]): boolean {
  if (left.length !== right.length) return false
  const texts = new Map(right.map(({ name, text }) => [name, text]))
  return left.every(({ name, text }) => texts.get(name) === text)
}

/** Equal for states with the same files; how far a staged schema is does not count. */
export function identityOf({ version, files, staged }: SchemaState): string {
  return JSON.stringify([version, staged !== undefined, files])
}

/** `mine`, which was made of `base`, with what was changed in `theirs` alone. */
export function rebased(
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

/** What pushing files would change. */
export interface SchemaDifference {
  /** By definitions. */
  readonly semantic: string
  /** By lines. */
  readonly textual: string
}

/** Compares files with those that were read. Throws {@link SchemaRefusal} for files that could not be pushed. */
export async function compareFiles(
  files: readonly SchemaFile[],
  { staged }: SchemaState,
  signal: AbortSignal,
): Promise<SchemaDifference> {
  const against: Parameters = staged ? { staged: 'true' } : {}
  const ask = (format: string) =>
    send<{ diff: string }>('diff', { ...against, format, ...inColours }, files, signal)
  const semantic = await ask('semantic')
  return { semantic: semantic.diff, textual: (await ask('textual')).diff }
}

/**
 * Makes these files the whole schema, or the staged one, unless the schema or a text is not what `base` says any more.
 * Throws {@link SchemaRefusal}.
 */
export async function pushFiles(
  files: readonly SchemaFile[],
  base: SchemaState,
  isStaging: boolean,
  signal: AbortSignal,
): Promise<Saved<SchemaState>> {
  // Comments and layout do not move the version, so the texts are looked at too.
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

/** Commits or abandons the staged schema that was read. Throws {@link ChangedError}, {@link SchemaRefusal}. */
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

/** The collections that a push with this difference deletes with their documents. */
export function removedCollections({ semantic }: SchemaDifference): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals begin with a control character.
  return [...semantic.matchAll(/^(?:\u001b\[[\d;]+m)?\* Removing collection `([^`]+)`/gm)].map(
    ([, name = '']) => name,
  )
}

/** An error of the schema at its place: line and column count from 1. */
export interface SchemaError {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Characters from there on; 0 where it is drawn over several lines. */
  readonly length: number
  readonly message: string
}

const errorPattern = /^error: (.*)\nat (.+):(\d+):(\d+)(?:\n *\|\n *\d+ \|.*\n *\| *(\^+))?/gm

/** The errors that the service has drawn, as far as they have a place. */
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
