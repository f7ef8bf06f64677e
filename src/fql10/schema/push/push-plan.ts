// Plans a push: the resulting files, and the added, removed and changed items. Planning writes nothing.

import type { Session } from '../../../model/session.ts'
import { migrationOfItem } from '../../world/migrations.ts'
import type { DiffLine } from '../fsl/diff/drawing.ts'
import { migrationLines } from '../fsl/diff/migration-lines.ts'
import { changesOf, type ItemChange } from '../fsl/diff/schema-diff.ts'
import { type FileText, readFile } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import type { MigrationPlan } from '../migrations/migration-plan.ts'
import { currentFiles } from './current-files.ts'
import { invalidFiles } from './schema-failure.ts'
import { othersOf } from './stored-definitions.ts'
import { itemFaults } from './validation.ts'

/** The effects of a push. */
export interface PushPlan {
  /** The files before the push, updated to match the definitions, and the files after the push. */
  readonly before: readonly FileText[]
  readonly after: readonly FileText[]
  /** The changes between these files. */
  readonly changes: readonly ItemChange[]
  /** Lines about the effects of an item's migrations on documents. */
  readonly fieldLines: (item: SchemaItem) => readonly DiffLine[] | undefined
}

/** A request to change the schema. */
export interface Push {
  readonly files: readonly FileText[]
  /** True if the files are the whole schema. Otherwise, other files are kept. */
  readonly isWhole: boolean
  /** The new keys of renamed items, by old key. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** The existing files that a push keeps. */
function keptFiles({ files, isWhole }: Push, base: readonly FileText[]): readonly FileText[] {
  const sent = new Set(files.map(({ name }) => name))
  return isWhole ? [] : base.filter(({ name }) => !sent.has(name))
}

/** The files after a push. */
export function resultOf(push: Push, base: readonly FileText[]): readonly FileText[] {
  return [...keptFiles(push, base), ...push.files]
}

/** Plans a push. Throws a SchemaFailure with all faults of the files. */
export function planOf(push: Push, session: Session): PushPlan {
  const before = currentFiles(session)
  const itemsBefore = before.flatMap(file => {
    const { faults, file: parsed } = readFile(file)
    return faults.length > 0 ? [] : parsed.items
  })
  const itemsAfter = itemsOf(resultOf(push, before))
  const faults = itemFaults(itemsAfter, othersOf(session))
  if (faults.length > 0) throw invalidFiles(faults)
  const migrations = new Map<SchemaItem, MigrationPlan>()
  for (const item of itemsAfter) {
    if (item.kind === 'collection') migrations.set(item, migrationOfItem(item, session))
  }
  const unfit = [...migrations.values()].flatMap(migration => migration.faults)
  if (unfit.length > 0) throw invalidFiles(unfit)
  const fieldLines = (item: SchemaItem) => {
    const migration = migrations.get(item)
    return migration === undefined ? undefined : migrationLines(migration, item)
  }
  const after = storedAfter(push, before)
  const { renamed } = push
  return { before, after, fieldLines, changes: changesOf(itemsBefore, itemsAfter, { fieldLines, renamed }) }
}

/** The items of all files. Throws a SchemaFailure with all faults. */
function itemsOf(files: readonly FileText[]): readonly SchemaItem[] {
  const read = files.map(readFile)
  const faults = read.flatMap(each => each.faults)
  if (faults.length > 0) throw invalidFiles(faults)
  const items = read.flatMap(({ file }) => file.items)
  const repeated = duplicates(items)
  if (repeated.length > 0) throw invalidFiles(repeated)
  return items
}

/** Names that occur twice, even in different files. */
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
 * The files to store. A blank text deletes an existing file. If a request contains a file twice, the later text counts.
 */
function storedAfter(push: Push, before: readonly FileText[]): readonly FileText[] {
  const known = new Set(before.map(({ name }) => name))
  const stored = push.files.filter(({ name, text }) => text.trim() !== '' || !known.has(name))
  return [...new Map([...keptFiles(push, before), ...stored].map(file => [file.name, file])).values()]
}
