// Represents the shape of a collection's documents while migration statements are rewound (undone, the last one first).
// A shape consists of fields with their origins.

import {
  anyType,
  type FieldType,
  isOptional,
  type MemberType,
  nullType,
  type ObjectType,
} from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import { unionOf } from '../../../model/schema/type-check.ts'
import type { FindCollection } from '../../../model/session.ts'
import type { TypeNode } from '../../syntax/nodes.ts'
import type { Source, Span } from '../../syntax/source.ts'
import type { SourceRange } from '../fsl/outline.ts'
import { resolveSignature } from '../signatures.ts'
import { type Declaration, type DeclaredExpression, expressionIn, type Statement } from './declaration.ts'

/**
 * The reason why documents have or lack a field before the rewound statements. `split` is the origin of the source of a
 * `split` statement, and `split into` the origin of its targets.
 */
export type FieldOrigin =
  | { readonly kind: 'declared' }
  | { readonly kind: 'dropped' | 'split' | 'backfilled' | 'added' | 'moved into'; readonly by: Statement }
  | { readonly kind: 'split into'; readonly by: Statement; readonly target: SourceRange }

export interface Field {
  readonly path: FieldNames
  readonly origin: FieldOrigin
  /** The type of the field. A required object has its shape instead, because statements can change its fields. */
  readonly content: FieldType | StructShape
  readonly nameSpan?: Span | undefined
  readonly typeSpan?: Span
  readonly defaultValue?: DeclaredExpression | undefined
}

/** The undeclared fields that an object may have. */
interface Wildcard {
  readonly type: FieldType
  readonly span?: Span | undefined
  readonly isImplicit?: boolean
  /** Undefined if no rewound statement adds the wildcard. */
  readonly addedBy?: Statement
  /**
   * True if a rewound statement drops the object to which this wildcard belongs. Documents may then lack the object.
   * The object may also have fields that its {@link StructShape} does not contain.
   */
  readonly isOfDropped?: boolean
}

export interface StructShape {
  readonly fields: Map<string, Field>
  wildcard: Wildcard | undefined
}

export function shapeOf({ fields, wildcard }: Declaration, find: FindCollection): StructShape {
  const shape: StructShape = {
    fields: new Map(),
    wildcard:
      wildcard === 'implicit'
        ? { type: anyType, isImplicit: true }
        : wildcard && { type: anyType, span: wildcard.span },
  }
  for (const { defaultValue, name, nameSpan, type, typeSource } of fields) {
    const content = contentOf(type, [name], typeSource, find)
    const typeSpan = { source: typeSource, start: type.start, end: type.end }
    const origin = { kind: 'declared' } as const
    shape.fields.set(name, { path: [name], origin, content, nameSpan, typeSpan, defaultValue })
  }
  return shape
}

function contentOf(
  type: TypeNode,
  path: FieldNames,
  source: Source,
  find: FindCollection,
): FieldType | StructShape {
  const resolved = (node: TypeNode) => resolveSignature(node, source, find).type
  if (type.kind !== 'object') return resolved(type)
  const fields = type.members.map(({ defaultValue, end, name, start, type: inner }): [string, Field] => [
    name,
    {
      path: [...path, name],
      origin: { kind: 'declared' },
      content: contentOf(inner, [...path, name], source, find),
      nameSpan: { source, start, end },
      typeSpan: { source, start: inner.start, end: inner.end },
      defaultValue: defaultValue && expressionIn(source, defaultValue),
    },
  ])
  return { fields: new Map(fields), wildcard: type.wildcard && { type: resolved(type.wildcard) } }
}

export function isStruct(content: FieldType | StructShape): content is StructShape {
  return !('kind' in content)
}

export function copyOf(content: FieldType | StructShape): FieldType | StructShape {
  if (!isStruct(content)) return content
  const copied = Array.from(content.fields, ([name, field]): [string, Field] => [
    name,
    { ...field, content: copyOf(field.content) },
  ])
  return { ...content, fields: new Map(copied) }
}

/** True if documents have the field before the rewound statements. */
export function isPresent({ origin }: Field): boolean {
  const { kind } = origin
  return kind === 'declared' || kind === 'dropped' || kind === 'split' || kind === 'backfilled'
}

/** True if documents may have undeclared fields before the rewound statements. */
export function hasWildcard({ wildcard }: StructShape): boolean {
  return wildcard !== undefined && wildcard.addedBy === undefined
}

/** Omits the nested fields that documents lack before the rewound statements. */
export function typeOf(content: FieldType | StructShape): FieldType {
  return isStruct(content) ? structType(content) : content
}

function structType({ fields, wildcard }: StructShape): FieldType {
  const present = Array.from(fields).filter(([, field]) => isPresent(field))
  const members = present.map(([name, { content, defaultValue }]): [string, MemberType] => [
    name,
    { type: typeOf(content), defaultValue: defaultValue?.text },
  ])
  const type: ObjectType = { kind: 'object', fields: new Map(members), wildcard: wildcard?.type }
  return wildcard?.isOfDropped ? unionOf([type, nullType]) : type
}

/**
 * Returns true for all reference types, because the migration of documents (world/migrations.ts) later checks whether a
 * reference type accepts null.
 */
export function mayBeAbsent(type: FieldType): boolean {
  if (type.kind === 'union') return type.members.some(mayBeAbsent)
  return type.kind === 'reference' || isOptional(type)
}

/** The result of {@link find}. A *slot* is an object and the name of a field, which the object may lack. */
export type FieldLookup = {
  /**
   * True if a nested object on the path has a declared wildcard. Documents may then have undeclared data at the path.
   */
  readonly isInOpenObject: boolean
} & (
  | {
      readonly kind: 'slot'
      readonly struct: StructShape
      readonly name: string
      /** Undefined if the object has no field with this name. */
      readonly field: Field | undefined
      readonly isTop: boolean
    }
  | { readonly kind: 'no parent' | 'no object' }
)

/**
 * Returns `no parent` if documents lack a parent object of the field before the rewound statements, and `no object` if
 * a parent is not an object.
 */
export function find(shape: StructShape, path: FieldNames): FieldLookup {
  let struct = shape
  let isInOpenObject = false
  for (const name of path.slice(0, -1)) {
    const field = struct.fields.get(name)
    if (field === undefined || !isPresent(field)) return { kind: 'no parent', isInOpenObject }
    if (!isStruct(field.content)) return { kind: 'no object', isInOpenObject }
    struct = field.content
    isInOpenObject ||= struct.wildcard !== undefined && !struct.wildcard.isOfDropped
  }
  const name = path.at(-1) ?? ''
  const field = struct.fields.get(name)
  return { kind: 'slot', struct, name, field, isTop: path.length === 1, isInOpenObject }
}

/** Returns the field that a lookup has found; undefined if the lookup has found no field. */
export function fieldAt(found: FieldLookup): Field | undefined {
  return found.kind === 'slot' ? found.field : undefined
}

/**
 * Converts the dropped parents of a field to objects with unknown fields, so that statements before the `drop` can move
 * or split the field.
 */
export function expandDroppedParents(shape: StructShape, path: FieldNames): void {
  let struct = shape
  for (const [index, name] of path.slice(0, -1).entries()) {
    const known = struct.fields.get(name)
    const isInDropped = struct.wildcard?.isOfDropped === true
    const undeclared: Field = {
      path: path.slice(0, index + 1),
      origin: { kind: 'declared' },
      content: anyType,
    }
    const field = known ?? (isInDropped ? undeclared : undefined)
    if (field === undefined || !isPresent(field)) return
    if (isStruct(field.content)) {
      struct = field.content
      continue
    }
    if (field.origin.kind !== 'dropped' && known !== undefined) return
    const content: StructShape = { fields: new Map(), wildcard: { type: anyType, isOfDropped: true } }
    struct.fields.set(name, { ...field, content })
    struct = content
  }
}

/**
 * Returns the range of a field's name in the path of a statement, or of the path if it does not end in the plain name,
 * for example because the name is quoted.
 */
export function nameInStatement({ node, source }: Statement, path: FieldNames): Span | undefined {
  if (source === undefined) return undefined
  const { end, start } = 'field' in node ? node.field : node
  const name = path.at(-1) ?? ''
  const isPlain = source.text.slice(end - name.length, end) === name
  return { source, start: isPlain ? end - name.length : start, end }
}

export function shownField(path: FieldNames): string {
  return `\`${pathSpelling(path)}\``
}
