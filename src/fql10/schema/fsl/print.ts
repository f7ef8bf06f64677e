// Prints the members of schema files, with two spaces per level and one member per line.

import { type IndexPart, isPart, printPaths } from './index-parts.ts'
import type { OutlineAnnotation, OutlineParameter, OutlinePredicate } from './outline.ts'
import { ExpressionPrinter, inBraces, printName, printPath, printString } from './print-expression.ts'
import type {
  ActionMember,
  CollectionMember,
  MigrationStatement,
  ProviderMember,
  RoleMember,
  SchemaItem,
} from './schema-items.ts'

/** Prints an annotation, such as `@alias(x)`. */
export function printAnnotation({ kind, name }: Pick<OutlineAnnotation, 'kind' | 'name'>): string {
  return `@${kind}(${printName(name.text)})`
}

/** A member of an item, or a part of a member. */
export type Member = CollectionMember | IndexPart | RoleMember | ActionMember | ProviderMember

/** Members of two versions of an item correspond if their keys are equal. */
export function memberKey(member: Member): string {
  if (member.kind === 'unique') return `unique ${printPaths(member.paths)}`
  return 'name' in member ? `${member.kind} ${member.name.text}` : member.kind
}

/** True if a schema file without the member has the same meaning. */
export function hasNoEffect(member: Member): boolean {
  return (
    (isPart(member) && member.paths.length === 0) || (member.kind === 'history_days' && member.value === 0n)
  )
}

export class ItemPrinter extends ExpressionPrinter {
  /** Prints the parameters and the result type of a function. */
  head({ parameters, result }: Pick<Extract<SchemaItem, { kind: 'function' }>, 'parameters' | 'result'>) {
    const printed = parameters.map(each => this.#parameter(each)).join(', ')
    return `(${printed})${result === undefined ? '' : `: ${this.type(result)}`}`
  }

  #parameter({ isRest, name, type }: OutlineParameter): string {
    return `${isRest ? '...' : ''}${name.text}${type === undefined ? '' : `: ${this.type(type)}`}`
  }

  /** Prints a member without a newline at the end. */
  member(member: Member): string {
    if (isPart(member)) return `${member.kind} ${printPaths(member.paths)}`
    switch (member.kind) {
      case 'field': {
        const value = member.defaultValue === undefined ? '' : ` = ${this.expression(member.defaultValue)}`
        return `${member.name.text}: ${this.type(member.type)}${value}`
      }
      case 'wildcard':
        return `*: ${this.type(member.type)}`
      case 'computed': {
        const type = member.type === undefined ? '' : `: ${this.type(member.type)}`
        return `compute ${member.name.text}${type} = ${this.expression(member.body)}`
      }
      case 'index':
        return `index ${member.name.text} ${inBraces(member.members.map(each => this.member(each)))}`
      case 'unique':
        return `unique ${printPaths(member.paths)}`
      case 'check':
        return `check ${member.name.text} ${this.expression(member.body)}`
      case 'history_days':
      case 'ttl_days':
      case 'document_ttls':
        return `${member.kind} ${member.value}`
      case 'migrations':
        return `migrations ${inBraces(member.statements.map(each => this.migration(each)))}`
      case 'privileges': {
        const actions = member.actions.map(each => this.member(each))
        return `privileges ${printName(member.name.text)} ${inBraces(actions)}`
      }
      case 'action':
        return `${member.name.text}${this.#predicate(member)}`
      case 'membership':
      case 'role':
        return `${member.kind} ${printName(member.name.text)}${this.#predicate(member)}`
      case 'issuer':
      case 'jwks_uri':
        return `${member.kind} ${printString(member.value)}`
    }
  }

  #predicate({ predicate }: Pick<ActionMember, 'predicate'>): string {
    return predicate === undefined ? '' : ` ${this.predicate(predicate)}`
  }

  predicate({ lambda }: OutlinePredicate): string {
    return inBraces([`predicate ${this.expression(lambda)}`])
  }

  migration(statement: MigrationStatement): string {
    const { kind } = statement
    if (kind === 'add_wildcard') return kind
    const field = printPath(('into' in statement ? statement.into : statement.field).path)
    const value = kind === 'backfill' ? ` = ${this.expression(statement.value)}` : ''
    const targets = 'to' in statement ? [statement.to].flat().map(({ path }) => printPath(path)) : []
    return `${kind} ${field}${value}${targets.length === 0 ? '' : ` -> ${targets.join(', ')}`}`
  }
}
