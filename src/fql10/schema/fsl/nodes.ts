// The items of a schema file with what they mean, each with its place: what differences, patches, migrations and definitions
// are made of. `parseFsl` (parse.ts) makes them, `printItem` (print.ts) writes them. Places are offsets into the text of
// {@link SchemaFile.source}; with it a place is what errors are drawn from. Expressions and
// types are the nodes of `../../syntax`.

import type { BlockNode, Node, TypeNode } from '../../syntax/nodes.ts'
import type { Source } from '../../syntax/source.ts'
import type { AnnotationPlace, NamePlace, ParameterPlace, SourceRange } from './outline.ts'

/** A file that was read; the source's name is that of the file. */
export interface SchemaFile {
  readonly source: Source
  readonly items: readonly SchemaItem[]
}

/**
 * What all items at the top of a file have. The place is that of annotations and text, without the comment above it and
 * without a semicolon behind it.
 */
interface ItemBase extends SourceRange {
  readonly source: Source
  /** Where its comment begins; where the item begins, when it has none. */
  readonly commentStart: number
  /** Where its first word begins, behind the annotations. */
  readonly keywordStart: number
  readonly name: NamePlace
  readonly annotations: readonly AnnotationPlace[]
}

/** An item with members in braces. */
interface BlockItem<K extends string, M> extends ItemBase {
  readonly kind: K
  /** From brace to brace. */
  readonly block: SourceRange
  /** In the order of the text. */
  readonly members: readonly M[]
}

/** `collection N { … }` */
export type CollectionItem = BlockItem<'collection', CollectionMember>

/** `name: T = e` */
interface FieldMember extends SourceRange {
  readonly kind: 'field'
  readonly name: NamePlace
  /** Fields within objects are {@link TypeNode}s of kind `object`; their members have places of their own. */
  readonly type: TypeNode
  readonly defaultValue: Node | undefined
}

/** `*: T` */
interface WildcardMember extends SourceRange {
  readonly kind: 'wildcard'
  /** Of the star. */
  readonly name: NamePlace
  readonly type: TypeNode
}

/** `compute name: T = lambda`; a short lambda is a group that holds it, a long one is never in a group. */
interface ComputedMember extends SourceRange {
  readonly kind: 'computed'
  readonly name: NamePlace
  readonly type: TypeNode | undefined
  readonly body: Node
}

/** `index name { … }` */
export interface IndexMember extends SourceRange {
  readonly kind: 'index'
  readonly name: NamePlace
  readonly block: SourceRange
  /** In the order of the text; each kind occurs at most once. */
  readonly members: readonly IndexPart[]
}

/** `terms […]` or `values […]`; the place of the member, and that of the brackets. */
export interface IndexPart extends SourceRange {
  readonly kind: 'terms' | 'values'
  readonly valuePlace: SourceRange
  readonly paths: readonly IndexPath[]
}

/** A path of an index or a unique constraint. */
export interface IndexPath extends SourceRange {
  /** Names and positions, without `data`. */
  readonly path: SchemaPath
  readonly mva: boolean
  readonly order: 'asc' | 'desc'
}

/** The steps of a path: names of fields, and positions in arrays. */
export type SchemaPath = readonly (string | bigint)[]

/** `unique […]` */
export interface UniqueMember extends SourceRange {
  readonly kind: 'unique'
  readonly valuePlace: SourceRange
  readonly paths: readonly IndexPath[]
}

/** `check name (lambda)`: the body is the group. */
interface CheckMember extends SourceRange {
  readonly kind: 'check'
  readonly name: NamePlace
  readonly body: Node
}

/** `history_days n`, `ttl_days n`, `document_ttls b`; `valuePlace` is that of the value. */
export interface SettingMember extends SourceRange {
  readonly kind: 'history_days' | 'ttl_days' | 'document_ttls'
  readonly value: bigint | boolean
  readonly valuePlace: SourceRange
}

/** `migrations { … }` */
interface MigrationsMember extends SourceRange {
  readonly kind: 'migrations'
  readonly block: SourceRange
  readonly statements: readonly MigrationStatement[]
}

/** A path of fields in a statement of a migration, with its place. */
export interface FieldPathPlace extends SourceRange {
  readonly path: readonly string[]
}

/** A statement of a block of migrations; the place is that of the whole statement. */
export type MigrationStatement =
  | (SourceRange & { readonly kind: 'add' | 'drop'; readonly field: FieldPathPlace })
  | (SourceRange & { readonly kind: 'backfill'; readonly field: FieldPathPlace; readonly value: Node })
  | (SourceRange & { readonly kind: 'move'; readonly field: FieldPathPlace; readonly to: FieldPathPlace })
  | (SourceRange & {
      readonly kind: 'split'
      readonly field: FieldPathPlace
      readonly to: readonly FieldPathPlace[]
    })
  | (SourceRange & { readonly kind: 'move_conflicts' | 'move_wildcard'; readonly into: FieldPathPlace })
  | (SourceRange & { readonly kind: 'add_wildcard' })

/** What stands in a collection. */
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
  readonly parameters: readonly ParameterPlace[]
  /** From one parenthesis to the other. */
  readonly list: SourceRange
  readonly result: TypeNode | undefined
  readonly body: BlockNode
}

/** `role N { … }` */
export type RoleItem = BlockItem<'role', RoleMember>

/** `privileges R { … }` */
export interface PrivilegesMember extends SourceRange {
  readonly kind: 'privileges'
  readonly name: NamePlace
  readonly block: SourceRange
  readonly actions: readonly ActionMember[]
}

/** A name, which may have a predicate behind it: `membership C`, or `membership C { predicate (…) }`. */
export interface PredicatedMember<K extends string> extends SourceRange {
  readonly kind: K
  readonly name: NamePlace
  readonly predicate: PredicatePlace | undefined
}

/** `read`, or `read { predicate (…) }`; the name is the word. */
export type ActionMember = PredicatedMember<'action'>

/** A predicate: the lambda in parentheses, and the place of the braces around it. */
export interface PredicatePlace {
  readonly block: SourceRange
  readonly lambda: Node
}

/** What stands in a role. */
export type RoleMember = PrivilegesMember | PredicatedMember<'membership'>

/** `access provider N { … }` */
export type ProviderItem = BlockItem<'access provider', ProviderMember>

/** `issuer "…"`, `jwks_uri "…"` */
export interface TextMember extends SourceRange {
  readonly kind: 'issuer' | 'jwks_uri'
  readonly value: string
  readonly valuePlace: SourceRange
}

/** What stands in an access provider. */
export type ProviderMember = TextMember | PredicatedMember<'role'>

/** An item at the top of a file. */
export type SchemaItem = CollectionItem | FunctionItem | RoleItem | ProviderItem

/** The members of one kind. */
export type OfKind<M extends { readonly kind: string }, K extends M['kind']> = Extract<
  M,
  { readonly kind: K }
>

/** The members that are of one kind. */
export function ofKind<M extends { readonly kind: string }, K extends M['kind']>(
  members: readonly M[],
  kind: K,
): readonly OfKind<M, K>[] {
  return members.filter((each): each is OfKind<M, K> => each.kind === kind)
}

/** The lambda of a computed field, be it written in parentheses or not. */
export function ungrouped(body: Node): Node {
  return body.kind === 'group' ? ungrouped(body.inner) : body
}
