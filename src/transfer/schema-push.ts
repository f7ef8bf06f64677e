// Writes schema files of version 10 to a database in one push. Existing objects are not changed, as with other schema
// objects. The push adds missing objects. For collections that version 4 has created, it applies the definitions in the
// files.

import { changesOf } from '../fql10/schema/fsl/diff/schema-diff.ts'
import { TextEdits } from '../fql10/schema/fsl/edit.ts'
import { itemKey, placeWithComment } from '../fql10/schema/fsl/patch.ts'
import type { SchemaItem } from '../fql10/schema/fsl/schema-items.ts'
import type { DatabasePath, SchemaConnection } from './connection.ts'
import { type FslFile, isPlain, readFsl } from './fsl.ts'
import { TransferError } from './record.ts'
import type { SchemaFinding } from './report.ts'

/** How files are pushed. */
interface PushOptions {
  /** True if the database only validates the files. */
  readonly dryRun: boolean
  /** Objects, by `itemKey`, that the import has created without their definitions, which are in the files. */
  readonly stubs: ReadonlySet<string>
}

/**
 * Pushes files. Throws `QueryError` with all errors and their positions, and {@link TransferError} while the database
 * has a staged schema.
 */
export async function pushFiles(
  connection: SchemaConnection,
  path: DatabasePath,
  files: readonly FslFile[],
  { dryRun, stubs }: PushOptions,
): Promise<readonly SchemaFinding[]> {
  const present = (await connection.schemaFiles(path)).map(({ name, text }) => readFsl(name, text))
  const { findings, push } = planOf(
    path,
    present,
    dryRun ? files.map(file => withoutStubs(file, stubs)) : files,
    stubs,
  )
  if (push.size > 0) {
    if (await connection.isSchemaStaged(path)) {
      const name = path.join('/') || 'the root database'
      throw new TransferError(`${name} has a staged schema: commit or abandon it before importing files`)
    }
    const sent = Array.from(push, ([name, text]) => ({ name, text }))
    await connection.pushSchema(path, sent, dryRun)
  }
  return findings
}

interface ImportPlan {
  readonly findings: readonly SchemaFinding[]
  /** The texts of files by name. */
  readonly push: ReadonlyMap<string, string>
}

function planOf(
  path: DatabasePath,
  present: readonly FslFile[],
  files: readonly FslFile[],
  stubs: ReadonlySet<string>,
): ImportPlan {
  const before = new Map(present.flatMap(({ items }) => items.map(item => [itemKey(item), item])))
  const wanted = files.flatMap(({ items }) => items)
  const kept = new Set(wanted.filter(item => !stubs.has(itemKey(item)) && isKept(before.get(itemKey(item)))))
  const replaced = new Set(wanted.flatMap(item => (kept.has(item) ? [] : (before.get(itemKey(item)) ?? []))))
  const push = new Map<string, string>()
  for (const { items, name, text } of present) {
    if (!items.some(item => replaced.has(item))) continue
    // A file without remaining items is deleted.
    push.set(name, items.every(item => replaced.has(item)) ? '' : without(items, replaced, text))
  }
  const texts = new Map(present.map(({ name, text }) => [name, text]))
  for (const { items, name, text } of files) {
    if (items.length > 0 && items.every(item => kept.has(item))) continue
    const there = push.get(name) ?? texts.get(name) ?? ''
    const added = without(items, kept, text)
    push.set(name, there.trim() === '' ? added : `${there.trimEnd()}\n\n${added}`)
  }
  const findings = wanted.map(item => ({
    database: path.join('/'),
    kind: item.kind,
    name: item.name.text,
    outcome: kept.has(item) ? compared(before.get(itemKey(item)) as SchemaItem, item) : ('created' as const),
  }))
  return { findings, push }
}

/** A file without the stubs. A dry run has not created the stubs, so the database would reject their names. */
function withoutStubs(file: FslFile, stubs: ReadonlySet<string>): FslFile {
  const cut = new Set(file.items.filter(item => stubs.has(itemKey(item))))
  return cut.size === 0 ? file : readFsl(file.name, without(file.items, cut, file.text))
}

function isKept(item: SchemaItem | undefined): boolean {
  return item !== undefined && !isPlain(item)
}

function compared(before: SchemaItem, after: SchemaItem): 'equal' | 'different' {
  return changesOf([before], [after]).length === 0 ? 'equal' : 'different'
}

/** A text without some of its items. */
function without(items: readonly SchemaItem[], cut: ReadonlySet<SchemaItem>, text: string): string {
  const edits = new TextEdits()
  for (const item of items) if (cut.has(item)) edits.cut(placeWithComment(item))
  return edits.isEmpty ? text : edits.applied(text)
}
