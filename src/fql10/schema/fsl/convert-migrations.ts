// Converts the migrations block of a collection from the outline of a schema file to typed statements.

import { msg } from '../../../base/message.ts'
import type { Node } from '../../syntax/nodes.ts'
import { type Conversion, errorRange, fieldPath } from './conversion.ts'
import type {
  OutlineFieldPath,
  OutlineItem,
  OutlineMember,
  OutlineMigration,
  SourceRange,
} from './outline.ts'
import type { MigrationStatement } from './schema-items.ts'

/**
 * Returns the range of the block in `migrations { … }`, and the valid statements. Returns undefined if there is no valid
 * block. Reports faults to `conversion`.
 */
export function migrationStatements(
  item: OutlineMember,
  conversion: Conversion,
): { readonly block: SourceRange; readonly statements: readonly MigrationStatement[] } | undefined {
  conversion.rejectAnnotations(item)
  conversion.rejectName(item)
  const value = conversion.valueOf(item)
  if (value === undefined) return undefined
  if (value.kind !== 'block') return conversion.fault(msg`Expected a migration block`, errorRange(value))
  if (value.members.length === 0) return conversion.fault(msg`Empty migration blocks are not allowed`, item)
  return {
    block: value,
    statements: value.members.flatMap(member => statementOf(member, conversion) ?? []),
  }
}

function statementOf(item: OutlineItem, conversion: Conversion): MigrationStatement | undefined {
  conversion.rejectAnnotations(item)
  if (item.form === 'migration') return convertMigration(item, conversion)
  if (item.form === 'member' && item.value === undefined) {
    return conversion.fault(msg`Expected a migration`, item)
  }
  return conversion.fault(msg`Only migrations are allowed in migration blocks`, item)
}

function convertMigration(
  { end, keyword, paths, start, value }: OutlineMigration,
  conversion: Conversion,
): MigrationStatement | undefined {
  const range = { start, end }
  const [field, ...to] = paths.map(path => fieldPath(path, conversion))
  if (keyword.text === 'add_wildcard') return { kind: 'add_wildcard', ...range }
  if (field === undefined || to.includes(undefined)) return undefined
  switch (keyword.text) {
    case 'add':
    case 'drop':
      return { kind: keyword.text, field, ...range }
    case 'backfill':
      return { kind: 'backfill', field, value: value as Node, ...range }
    case 'move':
      return { kind: 'move', field, to: to[0] as OutlineFieldPath, ...range }
    case 'split':
      return convertSplit(field, to as OutlineFieldPath[], range, conversion)
    case 'move_conflicts':
    case 'move_wildcard':
      return { kind: keyword.text, into: field, ...range }
  }
  return undefined
}

function convertSplit(
  field: OutlineFieldPath,
  to: readonly OutlineFieldPath[],
  range: SourceRange,
  conversion: Conversion,
): MigrationStatement | undefined {
  if (to.length < 2) return conversion.fault(msg`Expected at least two fields to split into`, range)
  const targets = { start: (to[0] as OutlineFieldPath).start, end: (to.at(-1) as OutlineFieldPath).end }
  if (new Set(to.map(({ path }) => JSON.stringify(path))).size < to.length) {
    return conversion.fault(msg`Expected list of fields with no duplicates`, targets)
  }
  return { kind: 'split', field, to, ...range }
}
