// Converts the members of a collection from the outline of a schema file (outline.ts) to typed members
// (schema-items.ts), and rejects duplicate members.

import { msg, own } from '../../../base/message.ts'
import { isShortLambda, type Node } from '../../syntax/nodes.ts'
import { isReservedField } from '../field-names.ts'
import {
  type Conversion,
  DuplicateCheck,
  errorRange,
  lambdaInParentheses,
  listOf,
  nodeOf,
  wordOf,
} from './conversion.ts'
import { migrationStatements } from './convert-migrations.ts'
import { type IndexPart, type IndexPath, indexPart, indexPaths, partKinds } from './index-parts.ts'
import { rejectDefaults } from './nested-defaults.ts'
import type { OutlineBlock, OutlineField, OutlineMember, SourceRange } from './outline.ts'
import type { CollectionMember, IndexMember, SettingMember, UniqueMember } from './schema-items.ts'

/** The conversion of one collection, with the names and unique constraints converted so far. */
interface CollectionContext {
  readonly conversion: Conversion
  readonly duplicates: DuplicateCheck
  readonly uniques: Map<string, SourceRange>
}

export function collectionMembers(
  { members }: OutlineBlock,
  conversion: Conversion,
): readonly CollectionMember[] {
  const context: CollectionContext = {
    conversion,
    duplicates: new DuplicateCheck(conversion),
    uniques: new Map(),
  }
  return members.flatMap(member => {
    if (member.form === 'field') return fieldMember(member, context) ?? []
    if (member.form === 'member') return otherMember(member, context) ?? []
    const word = wordOf(member)
    return conversion.fault(msg`Invalid field or member \`${word.text}\``, word) ?? []
  })
}

function fieldMember(item: OutlineField, context: CollectionContext): CollectionMember | undefined {
  const { conversion, duplicates } = context
  const { compute, end, isWildcard, name, start, type, value } = item
  conversion.rejectAnnotations(item)
  if (!isWildcard && conversion.identifier(name) === undefined) return undefined
  if (isReservedField(name.text)) {
    return conversion.fault(msg`Invalid reserved name \`${name.text}\``, item)
  }
  if (!duplicates.addNamed('field', name)) return undefined
  if (compute !== undefined) return computedMember(item, compute, conversion)
  if (type === undefined) return conversion.fault(msg`Expected a type signature`, item)
  if (isWildcard) {
    if (value !== undefined) {
      return conversion.fault(msg`No default allowed for wildcard field`, errorRange(value))
    }
    rejectDefaults(type, undefined, conversion)
    return { kind: 'wildcard', name, type, start, end }
  }
  rejectDefaults(type, value, conversion)
  return { kind: 'field', name, type, defaultValue: value, start, end }
}

function computedMember(
  { end, name, start, type, value }: OutlineField,
  compute: SourceRange,
  conversion: Conversion,
): CollectionMember | undefined {
  if (value === undefined) return conversion.fault(msg`Computed fields require a value`, compute)
  const inner = lambdaInParentheses(value)
  if (value.kind !== 'lambda' && inner === undefined) {
    return conversion.fault(msg`Expected lambda`, errorRange(value))
  }
  // Removes the parentheses around a long lambda such as `(x => x.a)`. A short lambda such as `(.a)` keeps its
  // parentheses.
  const body = inner === undefined || isShortLambda(inner) ? value : inner
  return { kind: 'computed', name, type, body, bodyRange: value, start, end }
}

function otherMember(item: OutlineMember, context: CollectionContext): CollectionMember | undefined {
  const { conversion } = context
  switch (item.keyword.text) {
    case 'index':
      return indexMember(item, context)
    case 'unique':
      return uniqueMember(item, context)
    case 'check':
      return checkMember(item, context)
    case 'history_days':
    case 'ttl_days':
    case 'document_ttls':
      return settingMember(item, item.keyword.text, context)
    case 'migrations': {
      if (!context.duplicates.add('migration block', item)) return undefined
      const found = migrationStatements(item, conversion)
      return found && { kind: 'migrations', ...found, start: item.start, end: item.end }
    }
  }
  return conversion.fault(msg`Invalid field or member \`${item.keyword.text}\``, item.keyword)
}

function indexMember(
  item: OutlineMember,
  { conversion, duplicates: names }: CollectionContext,
): IndexMember | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.identifierOf(item)
  if (name === undefined) return undefined
  // The parts of an index with a duplicate name are checked, too.
  names.addNamed('index name', name)
  const block = conversion.blockOf(item)
  if (block === undefined) return undefined
  const duplicates = new DuplicateCheck(conversion)
  const members = block.members.flatMap((part): readonly IndexPart[] => {
    const word = wordOf(part)
    const kind = partKinds.find(each => each === word.text)
    if (part.form !== 'member' || kind === undefined) {
      return conversion.fault(msg`Invalid member \`${word.text}\``, word) ?? []
    }
    if (!duplicates.add(`${kind} definition`, part)) return []
    const converted = indexPart(kind, part, conversion)
    return converted === undefined ? [] : [converted]
  })
  return { kind: 'index', name, block, members, start: item.start, end: item.end }
}

function uniqueMember(
  item: OutlineMember,
  { conversion, uniques }: CollectionContext,
): UniqueMember | undefined {
  const list = listOf(item, conversion)
  if (list === undefined) return undefined
  const before = conversion.faults.length
  const paths = indexPaths(list, 'terms', conversion) ?? []
  if (paths.length === 0) {
    const isEmpty = list.kind !== 'list' || list.elements.length === 0
    if (isEmpty || conversion.faults.length === before) {
      conversion.fault(msg`Expected non-empty terms for a unique constraint`, errorRange(list))
    }
    return undefined
  }
  const key = [...new Set(paths.map(pathKey))].sort().join('\n')
  const first = uniques.get(key)
  if (first !== undefined) {
    const remarks = [conversion.hint('This unique constraint covers the same fields.', first)]
    return conversion.fault(msg`Duplicate unique constraint.`, list, { remarks })
  }
  uniques.set(key, list)
  return { kind: 'unique', paths, start: item.start, end: item.end }
}

function pathKey({ mva, path }: IndexPath): string {
  return JSON.stringify([mva, ...path.map(step => (typeof step === 'bigint' ? Number(step) : step))])
}

function checkMember(
  item: OutlineMember,
  { conversion, duplicates }: CollectionContext,
): CollectionMember | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.identifierOf(item)
  if (name === undefined || !duplicates.addNamed('check constraint name', name)) return undefined
  const value = conversion.expressionOf(item)
  if (value === undefined) return undefined
  const body: Node = value.node
  if (lambdaInParentheses(body) === undefined) {
    const annotation = 'Check constraints require parenthesis around the lambda'
    const parts = body.kind === 'lambda' ? { annotation } : {}
    return conversion.fault(msg`Expected lambda check predicate`, errorRange(body), parts)
  }
  return { kind: 'check', name, body, start: item.start, end: item.end }
}

/** `title` is a setting's name in messages. `expected` is the error for other types. */
const settings = {
  history_days: { title: 'history days', type: 'bigint', expected: 'Expected integer literal' },
  ttl_days: { title: 'ttl days', type: 'bigint', expected: 'Expected integer literal' },
  document_ttls: { title: 'document TTLs', type: 'boolean', expected: 'Expected boolean literal' },
} as const

function settingMember(
  item: OutlineMember,
  kind: keyof typeof settings,
  context: CollectionContext,
): SettingMember | undefined {
  const { conversion, duplicates } = context
  const { expected, title, type } = settings[kind]
  conversion.rejectAnnotations(item)
  conversion.rejectName(item)
  if (!duplicates.add(title, item)) return undefined
  const given = conversion.valueOf(item)
  if (given === undefined) return undefined
  const node = nodeOf(given)
  if (node?.kind !== 'literal' || typeof node.value !== type) {
    return conversion.fault(own(expected), errorRange(given))
  }
  const value = node.value as SettingMember['value']
  return { kind, value, valueRange: node, start: item.start, end: item.end }
}
