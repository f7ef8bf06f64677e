// Plans a push: the resulting files, and the added, removed and changed items. Planning writes nothing. Executing a
// plan writes definitions by the same rules as queries, and stores the files.

import type { Session } from '../../../model/session.ts'
import type { ObjectValue } from '../../../values/value.ts'
import { Call } from '../../call.ts'
import { Interpreter } from '../../evaluate/interpreter.ts'
import { QueryFailure } from '../../failure/query-failure.ts'
import { nativeModule } from '../../library/natives.ts'
import { Source, type Span } from '../../syntax/source.ts'
import type { Struct } from '../../value.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'
import { DataWorld } from '../../world/data-world.ts'
import { migrationOfItem } from '../../world/migrations.ts'
import { definitionOf, nativeOfItem } from '../fsl/definition-of-item.ts'
import { type Coloring, type DiffLine, renderLines } from '../fsl/diff/drawing.ts'
import { migrationLines } from '../fsl/diff/migration-lines.ts'
import { changesOf, type ItemChange, semanticDiff, summaryDiff } from '../fsl/diff/schema-diff.ts'
import { textualDiff } from '../fsl/diff/textual.ts'
import { type FileText, readFile } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import type { MigrationPlan } from '../migrations/migration-plan.ts'
import { currentFiles, schemaItemFaults, storeFiles } from './current-files.ts'
import { pushWarnings } from './push-warnings.ts'
import { removedParts } from './removed-parts.ts'
import { failedWrite, invalidFiles } from './route.ts'

export interface PushPlan {
  /** The schema files before the push, updated to match the stored definitions. */
  readonly before: readonly FileText[]
  readonly after: readonly FileText[]
  readonly changes: readonly ItemChange[]
  /** Describes how the migration of a collection item changes documents. Undefined if there is no migration. */
  readonly fieldLines: (item: SchemaItem) => readonly DiffLine[] | undefined
  /** Lines about removed objects that no file contains (removed-parts.ts). */
  readonly removed: readonly string[]
  readonly warningsOf: (changes: readonly ItemChange[]) => readonly string[]
}

export interface Push {
  readonly files: readonly FileText[]
  /** If false, the push keeps all existing files that `files` does not contain. */
  readonly isWhole: boolean
  /** The new keys of renamed items, by old key. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** Existing files that a push does not replace or delete. */
function keptFiles({ files, isWhole }: Push, existing: readonly FileText[]): readonly FileText[] {
  const sent = new Set(files.map(({ name }) => name))
  return isWhole ? [] : existing.filter(({ name }) => !sent.has(name))
}

/** All files after the push, including existing files that the push deletes: it contains them with a blank text. */
export function resultOf(push: Push, existing: readonly FileText[]): readonly FileText[] {
  return [...keptFiles(push, existing), ...push.files]
}

/** Throws a SchemaFailure with the faults that the first failed check finds. */
export function planOf(push: Push, session: Session): PushPlan {
  const before = currentFiles(session)
  const itemsBefore = before.flatMap(file => {
    const { faults, items } = readFile(file)
    return faults.length > 0 ? [] : items
  })
  const itemsAfter = itemsOf(resultOf(push, before))
  const faults = schemaItemFaults(itemsAfter, session)
  if (faults.length > 0) throw invalidFiles(faults)
  const migrations = new Map<SchemaItem, MigrationPlan>()
  for (const item of itemsAfter) {
    if (item.kind === 'collection') migrations.set(item, migrationOfItem(item, session))
  }
  const migrationFaults = [...migrations.values()].flatMap(migration => migration.faults)
  if (migrationFaults.length > 0) throw invalidFiles(migrationFaults)
  const fieldLines = (item: SchemaItem) => {
    const migration = migrations.get(item)
    return migration === undefined ? undefined : migrationLines(migration, item)
  }
  const after = storedAfter(push, before)
  const { renamed } = push
  const changes = changesOf(itemsBefore, itemsAfter, { fieldLines, renamed })
  return {
    before,
    after,
    fieldLines,
    changes,
    removed: removedParts(changes, session),
    warningsOf: given => pushWarnings(given, itemsAfter, session),
  }
}

/** Throws a SchemaFailure with all parse errors, or else with all duplicate names. */
function itemsOf(files: readonly FileText[]): readonly SchemaItem[] {
  const read = files.map(readFile)
  const faults = read.flatMap(each => each.faults)
  if (faults.length > 0) throw invalidFiles(faults)
  const items = read.flatMap(each => each.items)
  const repeated = duplicates(items)
  if (repeated.length > 0) throw invalidFiles(repeated)
  return items
}

/**
 * Returns an error for each item that has the same name as an earlier item in any file. Collections and functions share
 * one namespace.
 */
function duplicates(items: readonly SchemaItem[]): readonly string[] {
  const seen = new Map<string, string>()
  return items.flatMap(({ kind, name, source }) => {
    const space = kind === 'collection' || kind === 'function' ? 'collection or function' : kind
    const key = `${space} \`${name.text}\``
    const first = seen.get(key)
    if (first !== undefined) return [`Duplicate ${key} in ${source.name} (originally seen in ${first})`]
    seen.set(key, source.name)
    return []
  })
}

/**
 * Omits existing files that the push contains with a blank text, because the push deletes them. If the push contains a
 * file twice, the later text is stored.
 */
function storedAfter(push: Push, before: readonly FileText[]): readonly FileText[] {
  const known = new Set(before.map(({ name }) => name))
  const stored = push.files.filter(({ name, text }) => text.trim() !== '' || !known.has(name))
  return [...new Map([...keptFiles(push, before), ...stored].map(file => [file.name, file])).values()]
}

/** Reads and writes definitions as queries do. */
interface ServiceCall {
  readonly world: DataWorld
  readonly call: Call
  /** Errors have the given position in a schema file. */
  readonly callAt: (span: Span) => Call
}

export function serviceCall(session: Session): ServiceCall {
  const world = new DataWorld(session)
  const interpreter = new Interpreter(session, world)
  return {
    world,
    call: new Call(interpreter, undefined, new Source('*schema*', ''), undefined),
    callAt: span => new Call(interpreter, undefined, span.source, span),
  }
}

/** Throws a SchemaFailure if a write fails. */
export function applyPlan(plan: PushPlan, session: Session): void {
  const { callAt, world } = serviceCall(session)
  try {
    for (const { after, before } of plan.changes) {
      // At least one of `before` and `after` is set. A renamed definition is found by its old name, which is still the
      // stored name.
      const { kind, name } = (before ?? after) as SchemaItem
      const { end, source, start } = (after ?? before) as SchemaItem
      const call = callAt({ source, start, end })
      const module = nativeModule(nativeOfItem[kind])
      const doc = world.documents.byName(module, name.text)
      const stored = session.transaction.get(doc.ref)?.fields
      if (after === undefined) {
        if (stored !== undefined) world.writer.remove(doc, call)
      } else if (stored === undefined) world.writer.create(module, definition(after), 'default', call)
      else world.writer.change('replace', doc, definition(after, stored), 'default', call)
    }
    world.finish()
  } catch (error) {
    throw error instanceof QueryFailure ? failedWrite(error) : error
  }
  storeFiles(plan.after, session)
}

/** Keeps the `data` of the stored definition `before`, because items do not contain `data`. */
function definition(item: SchemaItem, before?: ObjectValue): Struct {
  const data = before?.get('data')
  // The cast is safe: definitions contain no references or times, and all other values have the same form in the model
  // and in version 10.
  const fields = definitionOf(item) as Struct
  return data === undefined ? fields : new Map([...fields, ['data', data]] as Iterable<[string, Struct]>)
}

/**
 * The format of a diff. `semantic` shows the changes of each item, `summary` lists the changed items, and `textual`
 * compares the lines of the files.
 */
type DiffForm = 'semantic' | 'summary' | 'textual'

/** The requested format of the diff; undefined for an unknown or missing format. */
export function diffFormOf({ parameters: { diff, format } }: SchemaRequest): DiffForm | undefined {
  return formIn(format) ?? formIn(diff)
}

function formIn(text: string | undefined): DiffForm | undefined {
  if (text === 'true') return 'semantic'
  return text === 'semantic' || text === 'summary' || text === 'textual' ? text : undefined
}

/** Returns `''` if nothing changes. */
export function diffText(
  { after, before, changes, removed, warningsOf }: PushPlan,
  form: DiffForm,
  request: SchemaRequest,
): string {
  const coloring: Coloring = request.parameters.color === 'ansi' ? 'ansi' : undefined
  if (form === 'textual') return textualDiff(textsOf(before), textsOf(after), coloring)
  const diff = form === 'summary' ? summaryDiff(changes, coloring) : semanticDiff(changes, coloring)
  const lost = section('Removing with these definitions', 'removed', removed, coloring)
  const warned = section('Warnings', 'changed', warningsOf(changes), coloring)
  return lost === '' && warned === '' ? diff : `${diff.trimEnd()}\n${lost}${warned}`
}

const marks = { removed: '-', changed: '!' } as const

/** Returns `''` for an empty list, so that a diff without these sections equals that of the hosted service. */
function section(
  title: string,
  tone: 'removed' | 'changed',
  entries: readonly string[],
  coloring: Coloring,
): string {
  if (entries.length === 0) return ''
  const lines = entries.flatMap(entry =>
    entry
      .split('\n')
      .map((line, index): DiffLine => ({ tone, text: `  ${index === 0 ? marks[tone] : ' '} ${line}` })),
  )
  return `\n${renderLines([{ tone: 'title', text: `* ${title}:` }, ...lines], coloring)}`
}

function textsOf(files: readonly FileText[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ name, text }) => [name, text]))
}
