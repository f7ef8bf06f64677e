// What a push would do: the files as they would be, and the items that come, go and change. Making a plan writes nothing.

import type { Session } from '../../../model/session.ts'
import { migrationOfItem } from '../../world/migrations.ts'
import type { DiffLine } from '../fsl/diff/drawing.ts'
import { migrationLines } from '../fsl/diff/migration-lines.ts'
import { changesOf, type ItemChange } from '../fsl/diff/schema-diff.ts'
import type { SchemaItem } from '../fsl/nodes.ts'
import { type FileText, readFile } from '../fsl/patch.ts'
import type { MigrationPlan } from '../migrations/plan.ts'
import { currentFiles } from './current-files.ts'
import { othersOf } from './definitions.ts'
import { refusedFiles } from './schema-failure.ts'
import { itemFaults } from './validation.ts'

/** What a push does. */
export interface PushPlan {
  /** The files before, in line with what is defined, and after. */
  readonly before: readonly FileText[]
  readonly after: readonly FileText[]
  /** The items that are not the same in them: those that come, those that go, those that change. */
  readonly changes: readonly ItemChange[]
  /** What the migrations of one of the items after will do to documents. */
  readonly fieldLines: (item: SchemaItem) => readonly DiffLine[] | undefined
}

/** The files of a push. */
export interface Push {
  readonly files: readonly FileText[]
  /** The files sent are the whole schema; else those that are not sent stay. */
  readonly isWhole: boolean
  /** The keys of items that get another name, each with the new one. */
  readonly renamed?: ReadonlyMap<string, string>
}

/** The files that stay beside those of a push that is laid over others. */
function keptFiles({ files, isWhole }: Push, base: readonly FileText[]): readonly FileText[] {
  const sent = new Set(files.map(({ name }) => name))
  return isWhole ? [] : base.filter(({ name }) => !sent.has(name))
}

/** The files with which a push ends that is laid over others. */
export function resultOf(push: Push, base: readonly FileText[]): readonly FileText[] {
  return [...keptFiles(push, base), ...push.files]
}

/** The plan of a push. Throws a SchemaFailure with everything that is wrong with the files. */
export function planOf(push: Push, session: Session): PushPlan {
  const before = currentFiles(session)
  const itemsBefore = before.flatMap(file => {
    const { faults, file: parsed } = readFile(file)
    return faults.length > 0 ? [] : parsed.items
  })
  const itemsAfter = itemsOf(resultOf(push, before))
  const faults = itemFaults(itemsAfter, othersOf(session))
  if (faults.length > 0) throw refusedFiles(faults)
  const migrations = new Map<SchemaItem, MigrationPlan>()
  for (const item of itemsAfter) {
    if (item.kind === 'collection') migrations.set(item, migrationOfItem(item, session))
  }
  const unfit = [...migrations.values()].flatMap(migration => migration.faults)
  if (unfit.length > 0) throw refusedFiles(unfit)
  const fieldLines = (item: SchemaItem) => {
    const migration = migrations.get(item)
    return migration === undefined ? undefined : migrationLines(migration, item)
  }
  const after = storedAfter(push, before)
  const { renamed } = push
  return { before, after, fieldLines, changes: changesOf(itemsBefore, itemsAfter, { fieldLines, renamed }) }
}

/** The items of all files. Throws a SchemaFailure with everything that is wrong in them. */
function itemsOf(files: readonly FileText[]): readonly SchemaItem[] {
  const read = files.map(readFile)
  const faults = read.flatMap(each => each.faults)
  if (faults.length > 0) throw refusedFiles(faults)
  const items = read.flatMap(({ file }) => file.items)
  const repeated = duplicates(items)
  if (repeated.length > 0) throw refusedFiles(repeated)
  return items
}

/** Names that occur twice, be it in two files. */
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

/** The files as they are stored: a blank text deletes a file that was there. Of two parts of one name the later counts. */
function storedAfter(push: Push, before: readonly FileText[]): readonly FileText[] {
  const known = new Set(before.map(({ name }) => name))
  const stored = push.files.filter(({ name, text }) => text.trim() !== '' || !known.has(name))
  return [...new Map([...keptFiles(push, before), ...stored].map(file => [file.name, file])).values()]
}
