// Converts an item of a schema file to its definition: the object that a query would pass to `create`.

import { int64Max, native, type ObjectValue, type Value } from '../../../values/value.ts'
import { isShortLambda, type Node } from '../../syntax/nodes.ts'
import { definitionOfIndex, definitionOfTerms } from './index-parts.ts'
import type { OutlineFieldPath } from './outline.ts'
import { ItemPrinter } from './print.ts'
import { printPath } from './print-expression.ts'
import {
  type ActionMember,
  type CollectionItem,
  type CollectionMember,
  type FunctionItem,
  type MigrationStatement,
  ofKind,
  type ProviderMember,
  type RoleMember,
  type SchemaItem,
} from './schema-items.ts'

export const nativeOfItem: Readonly<Record<SchemaItem['kind'], number>> = {
  collection: native.collections,
  function: native.functions,
  role: native.roles,
  'access provider': native.access_providers,
}

/** Schema changes are written and reported in this order. */
export const itemKinds = Object.keys(nativeOfItem) as readonly SchemaItem['kind'][]

const schemaNatives: ReadonlySet<number | undefined> = new Set(Object.values(nativeOfItem))

/** True if schema files define the documents of a native collection. */
export function isSchemaNative(number: number | undefined): boolean {
  return schemaNatives.has(number)
}

/** The value of `history_days` in schema files that means an unlimited history. */
export const unlimitedDays = int64Max

/** In the definition, parts that the item does not mention are absent, empty, or have their default value. */
export function definitionOf(item: SchemaItem): ObjectValue {
  const writer = new DefinitionWriter(item.source.text)
  switch (item.kind) {
    case 'collection':
      return writer.collection(item)
    case 'function':
      return writer.function(item)
    case 'role':
      return writer.role(item.name.text, item.members)
    case 'access provider':
      return writer.provider(item.name.text, item.members)
  }
}

/** Omits the fields whose value is undefined. */
function object(fields: Readonly<Record<string, Value | undefined>>): Map<string, Value> {
  const given = Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined)
  return new Map(given)
}

/** Creates an object from entries. Returns undefined if there are no entries. */
function someObject(entries: readonly (readonly [string, Value])[]): Value | undefined {
  return entries.length === 0 ? undefined : new Map(entries)
}

function annotationOf({ annotations }: SchemaItem, kind: 'alias' | 'role'): string | undefined {
  return annotations.find(each => each.kind === kind)?.name.text
}

class DefinitionWriter extends ItemPrinter {
  collection(item: CollectionItem): ObjectValue {
    const { members } = item
    const setting = (kind: 'history_days' | 'ttl_days' | 'document_ttls') => ofKind(members, kind)[0]?.value
    const history = setting('history_days') ?? 0n
    const wildcard = ofKind(members, 'wildcard')[0]
    const [migrations] = ofKind(members, 'migrations')
    return object({
      name: item.name.text,
      alias: annotationOf(item, 'alias'),
      history_days: history === unlimitedDays ? null : history,
      ttl_days: setting('ttl_days'),
      document_ttls: setting('document_ttls'),
      fields: someObject(
        ofKind(members, 'field').map(({ defaultValue, name, type }) => [
          name.text,
          object({ signature: this.type(type), default: defaultValue && this.expression(defaultValue) }),
        ]),
      ),
      wildcard: wildcard && this.type(wildcard.type),
      computed_fields: someObject(
        ofKind(members, 'computed').map(({ body, name, type }) => [
          name.text,
          object({ body: this.#lambdaText(body), signature: type && this.type(type) }),
        ]),
      ),
      indexes: new Map(
        ofKind(members, 'index').map(each => [each.name.text, definitionOfIndex(each.members)]),
      ),
      constraints: this.#constraints(members),
      migrations: migrations?.statements.map(each => this.#migration(each)),
    })
  }

  #constraints(members: readonly CollectionMember[]): Value {
    return [
      ...ofKind(members, 'unique').map(({ paths }) => object({ unique: definitionOfTerms(paths) })),
      ...ofKind(members, 'check').map(({ body, name }) =>
        object({ check: object({ name: name.text, body: this.#lambdaText(body) }) }),
      ),
    ]
  }

  #migration(statement: MigrationStatement): Value {
    const path = ({ path: steps }: OutlineFieldPath) => printPath(steps)
    const { kind } = statement
    const given = object({
      field: 'field' in statement ? path(statement.field) : undefined,
      into: 'into' in statement ? path(statement.into) : undefined,
      value: kind === 'backfill' ? this.expression(statement.value) : undefined,
      to: kind === 'move' ? path(statement.to) : kind === 'split' ? statement.to.map(path) : undefined,
    })
    return object({ [kind]: given })
  }

  function(item: FunctionItem): ObjectValue {
    const { body, parameters, result } = item
    const names = parameters.map(({ isRest, name }) => `${isRest ? '...' : ''}${name.text}`)
    const types = parameters.map(({ isRest, name, type }) =>
      type === undefined ? '' : `${name.text}: ${isRest ? '...' : ''}${this.type(type)}`,
    )
    return object({
      name: item.name.text,
      body: `(${names.join(', ')}) => ${this.block(body)}`,
      signature: result && `(${types.join(', ')}) => ${this.type(result)}`,
      alias: annotationOf(item, 'alias'),
      role: annotationOf(item, 'role'),
    })
  }

  role(name: string, members: readonly RoleMember[]): ObjectValue {
    return object({
      name,
      privileges: ofKind(members, 'privileges').map(({ actions, name: resource }) =>
        object({
          resource: resource.text,
          actions: someObject(actions.map(each => [each.name.text, this.#predicateText(each) ?? true])),
        }),
      ),
      membership: ofKind(members, 'membership').map(each =>
        object({ resource: each.name.text, predicate: this.#predicateText(each) }),
      ),
    })
  }

  #predicateText({ predicate }: Pick<ActionMember, 'predicate'>): string | undefined {
    return predicate && this.#lambdaText(predicate.lambda)
  }

  provider(name: string, members: readonly ProviderMember[]): ObjectValue {
    const text = (kind: 'issuer' | 'jwks_uri') => ofKind(members, kind)[0]?.value
    const roles = ofKind(members, 'role').map((each): Value => {
      const predicate = this.#predicateText(each)
      return predicate === undefined ? each.name.text : object({ role: each.name.text, predicate })
    })
    return object({
      name,
      issuer: text('issuer'),
      jwks_uri: text('jwks_uri'),
      roles: roles.length === 0 ? undefined : roles,
    })
  }

  /** Omits the parentheses around a long lambda such as `(x => x.a)`, but not around a short one such as `(.a)`. */
  #lambdaText(node: Node): string {
    if (node.kind !== 'group' || node.inner.kind !== 'lambda') return this.expression(node)
    const { inner } = node
    return isShortLambda(inner) ? this.expression(node) : this.lambda(inner)
  }
}
