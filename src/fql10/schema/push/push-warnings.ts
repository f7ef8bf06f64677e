// Warns about definitions that a push accepts, but that do not work as their author expects: indexes and unique
// constraints over fields that never have a value, and constraints that existing documents may violate. The hosted
// service accepts all of these definitions, so they are not errors.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import type { FieldType } from '../../../model/schema/field-types.ts'
import { isSamePath, type Path, pathSpelling } from '../../../model/schema/paths.ts'
import type { FindCollection, Session } from '../../../model/session.ts'
import { native } from '../../../values/value.ts'
import type { Span } from '../../syntax/source.ts'
import { type SchemaNames, unindexableUses } from '../../typing/indexable.ts'
import { finderOf, hasDocuments } from '../../world/migrations.ts'
import type { ItemChange } from '../fsl/diff/schema-diff.ts'
import { type IndexPath, pathsIn, printPaths } from '../fsl/index-parts.ts'
import {
  type CollectionItem,
  type OfKind,
  ofKind,
  type SchemaItem,
  type UniqueMember,
} from '../fsl/schema-items.ts'
import { declarationOfItem } from '../migrations/declaration.ts'
import { shapeOf, typeOf } from '../migrations/document-shape.ts'
import { foreignNames } from './current-files.ts'

/** `items` is the complete schema after the push. */
export function pushWarnings(
  changes: readonly ItemChange[],
  items: readonly SchemaItem[],
  session: Session,
): readonly string[] {
  if (!changes.some(({ after }) => after?.kind === 'collection')) return []
  const names: SchemaNames = {
    collections: new Set(ofKind(items, 'collection').map(({ name }) => name.text)),
    functions: new Set([
      ...ofKind(items, 'function').map(({ name }) => name.text),
      ...foreignNames(session).functions,
    ]),
  }
  const find = finderOf(session)
  return changes.flatMap(({ after, before }) => {
    if (after?.kind !== 'collection') return []
    step(stepsPerDefinition)
    return [
      ...emptyPaths(after, names, find),
      ...(before?.kind === 'collection' ? uncheckedConstraints(before, after, session) : []),
    ]
  })
}

/** An index or a unique constraint, as warnings name it. */
interface NamedPaths {
  readonly label: string
  readonly paths: readonly IndexPath[]
}

function indexedPaths({ members }: CollectionItem): readonly NamedPaths[] {
  return members.flatMap(member => {
    if (member.kind === 'unique') return [{ label: uniqueLabel(member), paths: member.paths }]
    if (member.kind !== 'index') return []
    return [{ label: `index ${member.name.text}`, paths: member.members.flatMap(part => part.paths) }]
  })
}

function uniqueLabel({ paths }: UniqueMember): string {
  return `unique ${printPaths(paths)}`
}

function emptyPaths(item: CollectionItem, names: SchemaNames, find: FindCollection): readonly string[] {
  const shape = shapeOf(declarationOfItem(item), find)
  const stored = typeOf(shape)
  const computed = new Set(ofKind(item.members, 'computed').map(({ name }) => name.text))
  const isReference = (path: readonly string[]) => typesAt(stored, path, false).some(isReferenceType)
  const uses = unindexableUses(item, names, isReference)
  return indexedPaths(item).flatMap(({ label, paths }) =>
    paths.flatMap(({ mva, path, start }) => {
      const where = `\`${pathSpelling(path)}\` has no value in \`${label}\` of \`${item.name.text}\``
      if (computed.has(String(path[0])))
        return uses
          .filter(({ field }) => field === path[0])
          .map(
            ({ span, what }) =>
              `${where}: computed fields in indexes and constraints cannot ${what} (${span.source.positionText(span.start)})`,
          )
      if (mayHaveValue(stored, path, mva)) return []
      return [`${where}: no document can have this field (${item.source.positionText(start)})`]
    }),
  )
}

/** Documents have these fields without a declaration. */
const undeclared: ReadonlySet<unknown> = new Set(['id', 'coll', 'ts', 'ttl'])

function mayHaveValue(stored: FieldType, path: Path, mva: boolean): boolean {
  if (undeclared.has(path[0])) return true
  return typesAt(stored, path[0] === 'data' ? path.slice(1) : path, mva).length > 0
}

/** The declared types that a value at a path may have; empty if there can be no value. */
function typesAt(type: FieldType, path: Path, mva: boolean): readonly FieldType[] {
  return path.reduce<readonly FieldType[]>(
    (types, name) => types.flatMap(each => typesIn(each, name, mva)),
    [type],
  )
}

/** The types after one step of a path. With `mva`, a name leads into the elements of an array. */
function typesIn(type: FieldType, name: string | bigint, mva: boolean): readonly FieldType[] {
  switch (type.kind) {
    case 'any':
      return [type]
    case 'union':
      return type.members.flatMap(each => typesIn(each, name, mva))
    case 'object': {
      const found = typeof name === 'string' ? (type.fields.get(name)?.type ?? type.wildcard) : undefined
      return found === undefined ? [] : [found]
    }
    case 'array':
    case 'tuple': {
      const elements = type.kind === 'array' ? [type.element] : type.elements
      if (typeof name === 'string') return mva ? elements.flatMap(each => typesIn(each, name, mva)) : []
      return type.kind === 'array' ? elements : elements.slice(Number(name), Number(name) + 1)
    }
    default:
      return []
  }
}

function isReferenceType(type: FieldType): boolean {
  return type.kind === 'union' ? type.members.some(isReferenceType) : type.kind === 'reference'
}

/** Warns with a query that lists the violating documents. */
function uncheckedConstraints(
  before: CollectionItem,
  after: CollectionItem,
  session: Session,
): readonly string[] {
  const { database, transaction } = session
  const own = transaction.catalogue.resolve(database, native.collections, before.name.text)
  if (own === undefined) return []
  const uniques = new Set(ofKind(before.members, 'unique').map(uniqueLabel))
  const checks = new Map(
    ofKind(before.members, 'check').map(each => [each.name.text, textOf(each.body, before)]),
  )
  const added = after.members.flatMap(member => {
    if (member.kind === 'unique' && !uniques.has(uniqueLabel(member)))
      return [{ label: uniqueLabel(member), query: duplicatesQuery(member, after) }]
    if (member.kind === 'check' && checks.get(member.name.text) !== textOf(member.body, after))
      return [{ label: `check ${member.name.text}`, query: failuresQuery(member, after) }]
    return []
  })
  if (added.length === 0 || !hasDocuments(own, session)) return []
  return added.map(
    ({ label, query }) =>
      `existing documents of \`${after.name.text}\` are not checked for \`${label}\`. Find violations with:\n  ${query.replaceAll('\n', '\n  ')}`,
  )
}

function textOf({ end, start }: Pick<Span, 'start' | 'end'>, { source }: CollectionItem): string {
  return source.text.slice(start, end)
}

function failuresQuery({ body }: OfKind<CollectionItem['members'][number], 'check'>, item: CollectionItem) {
  return `let check = ${textOf(body, item)}\n${item.name.text}.where(doc => check(doc) != true)`
}

/**
 * Lists documents that share their values with another document. Documents without any value are unique. Uses an index
 * over exactly the fields of the constraint if there is one, because a search in all documents for each document is
 * slow.
 */
function duplicatesQuery({ paths }: UniqueMember, item: CollectionItem): string {
  const collection = item.name.text
  const valuesOf = (doc: string) => paths.map(({ path }) => `${doc}${safeSpelling(path)}`)
  const hasValue = valuesOf('doc')
    .map(value => `${value} != null`)
    .join(' || ')
  const index = paths.some(({ mva }) => mva) ? undefined : indexOver(paths, item)
  const same = paths.map((path, at) => equality(path, valuesOf('doc')[at] ?? '', valuesOf('other')[at] ?? ''))
  const equals =
    index === undefined
      ? `${collection}.where(other => ${same.join(' && ')})`
      : `${collection}.${index}(${valuesOf('doc').join(', ')})`
  const condition = paths.length > 1 ? `(${hasValue})` : hasValue
  return `${collection}.where(doc => ${condition} && ${equals}.take(2).count() > 1)`
}

function equality({ mva }: IndexPath, own: string, other: string): string {
  return mva ? `(${own} ?? []).any(each => (${other} ?? []).includes(each))` : `${own} == ${other}`
}

function indexOver(paths: readonly IndexPath[], { members }: CollectionItem): string | undefined {
  return ofKind(members, 'index').find(index => {
    const terms = pathsIn(index.members, 'terms')
    return (
      terms.length === paths.length &&
      terms.every(({ mva, path }, at) => !mva && isSamePath(path, paths[at]?.path ?? []))
    )
  })?.name.text
}

/** The result of the spelled path is null if an object or an element on the path is missing. */
function safeSpelling([first, ...steps]: Path): string {
  const safe = steps.map(name => {
    if (typeof name === 'bigint') return `?.drop(${name}).first()`
    const step = pathSpelling([name])
    return step.startsWith('.') ? `?${step}` : `?.${step}`
  })
  return `${pathSpelling(first === undefined ? [] : [first])}${safe.join('')}`
}
