// Converts the members of a collection from the outline of a schema file (outline.ts) to typed members
// (schema-items.ts).

import { msg, own } from '../../../base/message.ts'
import { isShortLambda, type Node, type TypeNode } from '../../syntax/nodes.ts'
import { isReservedField } from '../field-names.ts'
import {
  type Conversion,
  DuplicateCheck,
  errorPlace,
  fieldPath,
  lambdaInParentheses,
  listOf,
  nodeOf,
  wordOf,
} from './conversion.ts'
import { type IndexPart, type IndexPath, indexPart, indexPaths, partKinds } from './index-parts.ts'
import type {
  FieldPathPlace,
  OutlineBlock,
  OutlineField,
  OutlineItem,
  OutlineMember,
  OutlineMigration,
  SourceRange,
} from './outline.ts'
import type {
  CollectionMember,
  IndexMember,
  MigrationStatement,
  SettingMember,
  UniqueMember,
} from './schema-items.ts'

/** Remembers the parts found so far, so that duplicates are detected. */
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
      return conversion.fault(msg`No default allowed for wildcard field`, errorPlace(value))
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
    return conversion.fault(msg`Expected lambda`, errorPlace(value))
  }
  // Removes the parentheses around a long lambda such as `(x => x.a)`. A short lambda such as `(.a)` keeps its
  // parentheses.
  const body = inner === undefined || isShortLambda(inner) ? value : inner
  return { kind: 'computed', name, type, body, bodyPlace: value, start, end }
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
      conversion.fault(msg`Expected non-empty terms for a unique constraint`, errorPlace(list))
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
    return conversion.fault(msg`Expected lambda check predicate`, errorPlace(body), parts)
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
    return conversion.fault(own(expected), errorPlace(given))
  }
  const value = node.value as SettingMember['value']
  return { kind, value, valuePlace: node, start: item.start, end: item.end }
}

// The statements of a migrations block.

/** The range of the block of `migrations { … }`, and its statements. */
function migrationStatements(
  item: OutlineMember,
  conversion: Conversion,
): { readonly block: SourceRange; readonly statements: readonly MigrationStatement[] } | undefined {
  conversion.rejectAnnotations(item)
  conversion.rejectName(item)
  const value = conversion.valueOf(item)
  if (value === undefined) return undefined
  if (value.kind !== 'block') return conversion.fault(msg`Expected a migration block`, errorPlace(value))
  if (value.members.length === 0) return conversion.fault(msg`Empty migration blocks are not allowed`, item)
  return {
    block: value,
    statements: value.members.flatMap(member => statementOf(member, conversion) ?? []),
  }
}

function statementOf(item: OutlineItem, conversion: Conversion): MigrationStatement | undefined {
  conversion.rejectAnnotations(item)
  if (item.form === 'migration') return known(item, conversion)
  if (item.form === 'member' && item.value === undefined) {
    return conversion.fault(msg`Expected a migration`, item)
  }
  return conversion.fault(msg`Only migrations are allowed in migration blocks`, item)
}

function known(
  { end, keyword, paths, start, value }: OutlineMigration,
  conversion: Conversion,
): MigrationStatement | undefined {
  const place = { start, end }
  const [field, ...to] = paths.map(path => fieldPath(path, conversion))
  if (keyword.text === 'add_wildcard') return { kind: 'add_wildcard', ...place }
  if (field === undefined || to.includes(undefined)) return undefined
  switch (keyword.text) {
    case 'add':
    case 'drop':
      return { kind: keyword.text, field, ...place }
    case 'backfill':
      return { kind: 'backfill', field, value: value as Node, ...place }
    case 'move':
      return { kind: 'move', field, to: to[0] as FieldPathPlace, ...place }
    case 'split':
      return split(field, to as FieldPathPlace[], place, conversion)
    case 'move_conflicts':
    case 'move_wildcard':
      return { kind: keyword.text, into: field, ...place }
  }
  return undefined
}

function split(
  field: FieldPathPlace,
  to: readonly FieldPathPlace[],
  place: SourceRange,
  conversion: Conversion,
): MigrationStatement | undefined {
  if (to.length < 2) return conversion.fault(msg`Expected at least two fields to split into`, place)
  const targets = { start: (to[0] as FieldPathPlace).start, end: (to.at(-1) as FieldPathPlace).end }
  if (new Set(to.map(({ path }) => JSON.stringify(path))).size < to.length) {
    return conversion.fault(msg`Expected list of fields with no duplicates`, targets)
  }
  return { kind: 'split', field, to, ...place }
}

// Checks defaults within field types. A default is allowed only if all enclosing types are object types, and no
// enclosing field has a default.

/** The reason why a type may not contain defaults. */
interface Obstacle {
  readonly message: string
  readonly place: SourceRange
}

/** Records a fault for each invalid default in the type of a field. `outer` is the default of the field itself. */
function rejectDefaults(type: TypeNode, outer: Node | undefined, conversion: Conversion): void {
  look(type, conflicting(outer), conversion)
}

function look(type: TypeNode, obstacle: Obstacle | undefined, conversion: Conversion): void {
  if (type.kind !== 'object') {
    const { own, within } = partsOf(type)
    for (const part of within) look(part, obstacle ?? own, conversion)
    return
  }
  for (const { defaultValue, type: member } of type.members) {
    if (defaultValue !== undefined && obstacle !== undefined) {
      const remarks = [conversion.hint(obstacle.message, obstacle.place)]
      conversion.fault(msg`Default values are not allowed here`, errorPlace(defaultValue), { remarks })
    }
    look(member, obstacle ?? conflicting(defaultValue), conversion)
  }
  if (type.wildcard !== undefined) look(type.wildcard, obstacle ?? notObject(type), conversion)
}

function conflicting(outer: Node | undefined): Obstacle | undefined {
  return outer && { message: 'Parent has a conflicting default value', place: errorPlace(outer) }
}

function notObject(type: TypeNode): Obstacle {
  return { message: 'Parent is not an object', place: type }
}

/** `within` contains the inner types. `own` is the reason why these types may not contain defaults. */
function partsOf(type: Exclude<TypeNode, { kind: 'object' }>): {
  readonly own: Obstacle
  readonly within: readonly TypeNode[]
} {
  const own = notObject(type)
  switch (type.kind) {
    case 'literal':
      return { own, within: [] }
    case 'optional': {
      const mark = { start: type.end - 1, end: type.end }
      return { own: { message: 'Parent is nullable', place: mark }, within: [type.inner] }
    }
    case 'union':
      return { own: { message: 'Parent is a union', place: type }, within: type.members }
    case 'intersection':
      return { own, within: type.members }
    case 'name':
      return { own, within: type.arguments }
    case 'tuple':
      return { own, within: type.elements }
    case 'function':
      return { own, within: [...type.parameters.map(parameter => parameter.type), type.result] }
  }
}
