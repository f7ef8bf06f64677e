// Defines the items of a schema file with their positions. Differences, patches, migrations and definitions are made
// from these items. Positions are offsets into the text of {@link ItemBase.source}.

import type { BlockNode, Node, TypeNode } from '../../syntax/nodes.ts'
import type { Source } from '../../syntax/source.ts'
import type { IndexPart, IndexPath } from './index-parts.ts'
import type {
  OutlineAnnotation,
  OutlineFieldPath,
  OutlineName,
  OutlineParameter,
  OutlinePredicate,
  SourceRange,
} from './outline.ts'

/** The range includes annotations, but neither the comment before the item nor the semicolon after it. */
interface ItemBase extends SourceRange {
  readonly source: Source
  /** The start of the comment before the item, or of the item if there is no comment. */
  readonly commentStart: number
  /** The start of the first word after the annotations. */
  readonly keywordStart: number
  readonly name: OutlineName
  readonly annotations: readonly OutlineAnnotation[]
}

interface BlockItem<K extends string, M> extends ItemBase {
  readonly kind: K
  /** Range including the braces. */
  readonly block: SourceRange
  /** The members in the order of the text. */
  readonly members: readonly M[]
}

/** `collection N { … }` */
export type CollectionItem = BlockItem<'collection', CollectionMember>

/** `name: T = e` */
interface FieldMember extends SourceRange {
  readonly kind: 'field'
  readonly name: OutlineName
  /** For an object type, the node has the kind `object`. The members of this node have their own ranges. */
  readonly type: TypeNode
  readonly defaultValue: Node | undefined
}

/** `*: T` */
interface WildcardMember extends SourceRange {
  readonly kind: 'wildcard'
  /** The range of the star. */
  readonly name: OutlineName
  readonly type: TypeNode
}

/**
 * `compute name: T = lambda`. `body` is a long lambda, or a node of kind `group` that contains a short lambda.
 * `bodyRange` includes the parentheses around a long lambda.
 */
interface ComputedMember extends SourceRange {
  readonly kind: 'computed'
  readonly name: OutlineName
  readonly type: TypeNode | undefined
  readonly body: Node
  readonly bodyRange: SourceRange
}

/** `index name { … }` */
export interface IndexMember extends SourceRange {
  readonly kind: 'index'
  readonly name: OutlineName
  readonly block: SourceRange
  /** The parts in the order of the text. Each kind occurs at most once. */
  readonly members: readonly IndexPart[]
}

/** `unique […]` */
export interface UniqueMember extends SourceRange {
  readonly kind: 'unique'
  readonly paths: readonly IndexPath[]
}

/** `check name (lambda)`. The body is the lambda with its parentheses, a node of kind `group`. */
interface CheckMember extends SourceRange {
  readonly kind: 'check'
  readonly name: OutlineName
  readonly body: Node
}

/** `history_days n`, `ttl_days n`, `document_ttls b`. `valueRange` is the range of the value. */
export interface SettingMember extends SourceRange {
  readonly kind: 'history_days' | 'ttl_days' | 'document_ttls'
  readonly value: bigint | boolean
  readonly valueRange: SourceRange
}

/** `migrations { … }` */
interface MigrationsMember extends SourceRange {
  readonly kind: 'migrations'
  readonly block: SourceRange
  readonly statements: readonly MigrationStatement[]
}

export type MigrationStatement =
  | (SourceRange & { readonly kind: 'add' | 'drop'; readonly field: OutlineFieldPath })
  | (SourceRange & { readonly kind: 'backfill'; readonly field: OutlineFieldPath; readonly value: Node })
  | (SourceRange & { readonly kind: 'move'; readonly field: OutlineFieldPath; readonly to: OutlineFieldPath })
  | (SourceRange & {
      readonly kind: 'split'
      readonly field: OutlineFieldPath
      readonly to: readonly OutlineFieldPath[]
    })
  | (SourceRange & { readonly kind: 'move_conflicts' | 'move_wildcard'; readonly into: OutlineFieldPath })
  | (SourceRange & { readonly kind: 'add_wildcard' })

export type CollectionMember =
  | FieldMember
  | WildcardMember
  | ComputedMember
  | IndexMember
  | UniqueMember
  | CheckMember
  | SettingMember
  | MigrationsMember

/** `function n(…): T { … }` */
export interface FunctionItem extends ItemBase {
  readonly kind: 'function'
  readonly parameters: readonly OutlineParameter[]
  /** The range of the parameter list, including the parentheses. */
  readonly list: SourceRange
  readonly result: TypeNode | undefined
  readonly body: BlockNode
}

/** `role N { … }` */
export type RoleItem = BlockItem<'role', RoleMember>

/** `privileges R { … }` */
export interface PrivilegesMember extends SourceRange {
  readonly kind: 'privileges'
  readonly name: OutlineName
  readonly block: SourceRange
  readonly actions: readonly ActionMember[]
}

/** A name with an optional predicate: `membership C`, or `membership C { predicate (…) }`. */
export interface PredicatedMember<K extends string> extends SourceRange {
  readonly kind: K
  readonly name: OutlineName
  readonly predicate: OutlinePredicate | undefined
}

/** `read`, or `read { predicate (…) }`. `name` is the action. */
export type ActionMember = PredicatedMember<'action'>

export type RoleMember = PrivilegesMember | PredicatedMember<'membership'>

/** `access provider N { … }` */
export type ProviderItem = BlockItem<'access provider', ProviderMember>

/** `issuer "…"`, `jwks_uri "…"` */
export interface TextMember extends SourceRange {
  readonly kind: 'issuer' | 'jwks_uri'
  readonly value: string
  readonly valueRange: SourceRange
}

export type ProviderMember = TextMember | PredicatedMember<'role'>

export type SchemaItem = CollectionItem | FunctionItem | RoleItem | ProviderItem

export type OfKind<M extends { readonly kind: string }, K extends M['kind']> = Extract<
  M,
  { readonly kind: K }
>

export function ofKind<M extends { readonly kind: string }, K extends M['kind']>(
  members: readonly M[],
  kind: K,
): readonly OfKind<M, K>[] {
  return members.filter((each): each is OfKind<M, K> => each.kind === kind)
}

/** The name, and the alias. */
export function namesOf({ annotations, name }: SchemaItem): readonly string[] {
  return [name.text, ...annotations.flatMap(each => (each.kind === 'alias' ? [each.name.text] : []))]
}

export function withoutParentheses(body: Node): Node {
  return body.kind === 'group' ? withoutParentheses(body.inner) : body
}
