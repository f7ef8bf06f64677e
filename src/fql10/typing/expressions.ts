// Determines the types of expressions.

import { msg } from '../../base/message.ts'
import {
  type BinaryNode,
  type BlockNode,
  type ChainNode,
  isShortLambda,
  type LambdaNode,
  type LetNode,
  type Link,
  type Node,
  type NodeRange,
  type ProjectionNode,
  shortParameter,
} from '../syntax/nodes.ts'
import type { Source, Span } from '../syntax/source.ts'
import { resolveType } from './annotations.ts'
import { spend } from './budget.ts'
import { freshen, instantiate, substitute } from './copies.ts'
import type { Scheme } from './environment.ts'
import { operators, unaryOperators } from './operator-types.ts'
import { resolveOverloads } from './resolve-overloads.ts'
import type { Solver } from './solver.ts'
import {
  anyType,
  booleanType,
  type FunctionType,
  type GenericType,
  levelOf,
  namedType,
  neverType,
  nullType,
  stringType,
  type Type,
  type Use,
  type Variable,
  withSpan,
} from './terms.ts'

/** A local name. The variables of its type above `level` are new for each mention. */
interface Local {
  readonly type: Type
  readonly level: number
  readonly generics: readonly GenericType[]
}

export class TypeScope {
  readonly #name: string
  readonly #local: Local
  readonly #outer: TypeScope | undefined

  constructor(name: string, local: Local, outer: TypeScope | undefined) {
    this.#name = name
    this.#local = local
    this.#outer = outer
  }

  find(name: string): Local | undefined {
    for (let scope: TypeScope | undefined = this; scope !== undefined; scope = scope.#outer) {
      if (scope.#name === name) return scope.#local
    }
    return undefined
  }
}

/** The type of the name is the same for each mention. */
export function monomorphic(type: Type): Local {
  return { type, level: Number.POSITIVE_INFINITY, generics: [] }
}

/** Determines the types of the expressions of one source. */
export class Typer {
  readonly #solver: Solver
  readonly #source: Source
  readonly #placeholders: readonly Type[]
  /** All projections of the source. The types of their operands may be unknown. */
  readonly projections: { readonly node: ProjectionNode; readonly operand: Type }[] = []
  readonly #observedStart: number | undefined
  /** The value whose field begins at the observed position. The use of this field is not checked. */
  observed: Type | undefined

  /** `observedStart`: the position of a field, for {@link observed}. */
  constructor(
    solver: Solver,
    source: Source,
    placeholders: readonly Type[] = [],
    observedStart: number | undefined = undefined,
  ) {
    this.#solver = solver
    this.#source = source
    this.#placeholders = placeholders
    this.#observedStart = observedStart
  }

  span({ start, end }: NodeRange): Span {
    return { source: this.#source, start, end }
  }

  #check(value: Type, use: Use, site: Span): boolean {
    return this.#solver.check(value, use, site)
  }

  /** If the check fails, the result is poisoned. */
  #result(value: Type, site: Span, use: (result: Variable) => Use): Type {
    const result = this.#solver.variable()
    if (!this.#check(value, use(result), site)) result.isPoisoned = true
    return result
  }

  type(node: Node, scope: TypeScope | undefined): Type {
    spend()
    switch (node.kind) {
      case 'literal': {
        const span = this.span(node)
        return node.value === null ? withSpan(nullType, span) : { kind: 'literal', value: node.value, span }
      }
      case 'placeholder':
        return withSpan(this.#placeholders[node.index] ?? anyType, this.span(node))
      case 'name':
        return this.#name(node.name, this.span(node), scope)
      case 'template':
        for (const part of node.parts) if (typeof part !== 'string') this.type(part, scope)
        return withSpan(stringType, this.span(node))
      case 'array':
        return {
          kind: 'tuple',
          elements: node.elements.map(each => this.type(each, scope)),
          span: this.span(node),
        }
      case 'group':
        return this.type(node.inner, scope)
      case 'object': {
        const fields = new Map(node.fields.map(([name, value]) => [name, this.type(value, scope)]))
        return { kind: 'record', fields, wildcard: undefined, span: this.span(node) }
      }
      case 'block':
        return this.#block(node, scope)
      case 'lambda':
        return this.lambda(node, scope)
      case 'if': {
        this.#check(this.type(node.condition, scope), booleanType, this.span(node.condition))
        const then = this.type(node.then, scope)
        if (node.otherwise === undefined) return withSpan(nullType, this.span(node))
        return this.#solver.variable(undefined, [then, this.type(node.otherwise, scope)].flatMap(membersOf))
      }
      case 'at':
        this.#check(this.type(node.time, scope), timeTypes, this.span(node.time))
        return this.type(node.body, scope)
      case 'match':
        return anyType
      case 'unary':
        this.#check(this.type(node.operand, scope), unaryOperators[node.operator], this.span(node.operand))
        return withSpan(unaryOperators[node.operator], this.span(node))
      case 'binary':
        return this.#binaries(node, scope)
      case 'chain':
        return this.#chain(node, scope)
      case 'projection':
        return this.#projection(node, scope)
    }
  }

  #name(name: string, span: Span, scope: TypeScope | undefined): Type {
    if (name !== '_') {
      const local = scope?.find(name)
      if (local !== undefined) return this.#mention(local)
      const global = this.#solver.environment.global(name)
      if (global !== undefined) return this.#global(global, span)
    }
    this.#solver.error(msg`Unbound variable \`${name}\``, span)
    return this.#poisoned()
  }

  #poisoned(): Type {
    const failed = this.#solver.variable()
    failed.isPoisoned = true
    return failed
  }

  #mention({ type, level, generics }: Local): Type {
    if (generics.length > 0) {
      const fresh = new Map(generics.map(each => [each.name, this.#solver.variable()]))
      return substitute(type, ({ name }) => fresh.get(name))
    }
    return levelOf(type) > level ? freshen(type, level, this.#solver.level) : type
  }

  #global(scheme: Scheme, span: Span): Type {
    if (scheme.parameters.length > 0) return instantiate(scheme, [], [], this.#solver.level)
    const { type } = scheme
    return type.kind !== 'variable' && type.span === undefined ? withSpan(type, span) : type
  }

  /** Returns the type of the last statement. */
  #block({ statements }: BlockNode, outer: TypeScope | undefined): Type {
    let scope = outer
    let type: Type = neverType
    for (const statement of statements) {
      if (statement.kind === 'let') {
        scope = new TypeScope(statement.name, this.#let(statement, scope), scope)
        type = neverType
      } else type = this.type(statement, scope)
    }
    return type
  }

  #let(node: LetNode, scope: TypeScope | undefined): Local {
    const solver = this.#solver
    const { level } = solver
    solver.level = level + 1
    const type = this.type(node.value, scope)
    if (node.type === undefined) {
      const resolved = resolveOverloads(solver, type, level)
      solver.level = level
      return { type: resolved, level, generics: [] }
    }
    const annotation = resolveType(node.type, {
      source: this.#source,
      shape: solver.environment.shape,
      genericLevel: solver.level,
      error: (message, span) => solver.error(message, span),
      warning: (message, span) => solver.warnings.push({ name: 'warning', message, span }),
    })
    const nameEnd = node.nameStart + node.name.length
    this.#check(type, annotation.type, this.span({ start: node.nameStart, end: nameEnd }))
    solver.level = level
    return { type: annotation.type, level, generics: annotation.generics }
  }

  lambda(node: LambdaNode, scope: TypeScope | undefined): FunctionType {
    const solver = this.#solver
    const parameters = node.parameters.map(name => ({ name, type: solver.variable() }))
    const rest = node.rest === undefined ? undefined : solver.variable()
    let inner = scope
    for (const { name, type } of parameters)
      if (name !== '_') inner = new TypeScope(name, monomorphic(type), inner)
    if (node.rest !== undefined && rest !== undefined) {
      inner = new TypeScope(node.rest, monomorphic({ kind: 'named', name: 'Array', args: [rest] }), inner)
    }
    return {
      kind: 'function',
      parameters: parameters.map(({ type }) => ({ name: undefined, type })),
      rest: rest && { name: undefined, type: rest },
      result: this.type(node.body, inner),
      span: this.span(node),
    }
  }

  /** Goes through the operators on the left in a loop, because nested calls would limit their number. */
  #binaries(node: BinaryNode, scope: TypeScope | undefined): Type {
    const spine: BinaryNode[] = [node]
    let left = node.left
    while (left.kind === 'binary') {
      spine.push(left)
      left = left.left
    }
    let type: Type | undefined
    for (const each of spine.reverse()) {
      // The operands of `isa` are not checked.
      if (each.operator === 'isa') type = withSpan(booleanType, this.span(each))
      else type = this.#binary(each, type ?? this.type(left, scope), scope)
    }
    return type ?? anyType
  }

  #binary(
    { operator, left, right, start, end }: BinaryNode,
    leftType: Type,
    scope: TypeScope | undefined,
  ): Type {
    const span = this.span({ start, end })
    const rightType = this.type(right, scope)
    if (operator === '??') {
      return this.#solver.variable(undefined, [nonNull(leftType), ...membersOf(rightType)])
    }
    const known = operators[operator]
    // `=~` and `!~` have no declared type.
    if (known === undefined) return withSpan(booleanType, span)
    if (known.kind !== 'function') {
      const args = [this.#solver.variable(), this.#solver.variable()]
      const result = this.#result(known, span, variable => ({
        kind: 'call',
        args,
        result: variable,
        argumentsSpan: undefined,
      }))
      this.#check(leftType, args[0] as Type, this.span(left))
      this.#check(rightType, args[1] as Type, this.span(right))
      return result
    }
    const [first, second] = known.parameters
    if (first !== undefined) this.#check(leftType, first.type, this.span(left))
    if (second !== undefined) this.#check(rightType, second.type, this.span(right))
    return withSpan(known.result, span)
  }

  #chain({ operand, links, start }: ChainNode, scope: TypeScope | undefined): Type {
    let type = this.type(operand, scope)
    let isOptional = false
    for (const link of links) {
      if (link.kind === 'assert') {
        type = nonNull(type)
        isOptional = false
        continue
      }
      if (link.optional) {
        type = nonNull(type)
        isOptional = true
      }
      if (link.kind === 'method' && link.optionalCall) isOptional = true
      type = this.#link(type, start, link, scope)
    }
    return isOptional ? { kind: 'union', members: [type, nullType] } : type
  }

  #link(
    type: Type,
    start: number,
    link: Exclude<Link, { kind: 'assert' }>,
    scope: TypeScope | undefined,
  ): Type {
    switch (link.kind) {
      case 'field':
        return this.#select(type, start, link)
      case 'method': {
        const method = this.#select(type, start, { ...link, kind: 'field', end: link.nameEnd })
        const called = link.optionalCall ? nonNull(method) : method
        const { argumentsStart, end } = link
        const brackets = { start: argumentsStart, end }
        return this.#apply('call', called, link.arguments, { start, end }, brackets, scope)
      }
      case 'call':
      case 'access':
        return this.#apply(link.kind, type, link.arguments, { start, end: link.end }, link, scope)
    }
  }

  #select(type: Type, start: number, link: Link & { kind: 'field' }): Type {
    if (link.nameStart === this.#observedStart) {
      this.observed = type
      return this.#poisoned()
    }
    const nameSpan = this.span({ start: link.nameStart, end: link.end })
    return this.#result(type, this.span({ start, end: link.start }), result => ({
      kind: 'select',
      field: link.name,
      result,
      nameSpan,
      dot: link.start,
    }))
  }

  /** An access to a tuple or an object depends on the value of a literal. */
  #apply(
    kind: 'call' | 'access',
    type: Type,
    nodes: readonly Node[],
    site: NodeRange,
    brackets: NodeRange,
    scope: TypeScope | undefined,
  ): Type {
    const given = nodes.map(each => this.type(each, scope))
    const [node] = nodes
    const isLiteral =
      kind === 'access' && given.length === 1 && node?.kind === 'literal' && node.value !== null
    const args = isLiteral ? given : given.map(() => this.#solver.variable())
    const result = this.#result(type, this.span(site), variable => ({
      kind,
      args,
      result: variable,
      argumentsSpan: this.span(brackets),
    }))
    if (isLiteral) return result
    for (const [index, each] of given.entries()) {
      this.#check(each, args[index] as Type, this.span(nodes[index] as Node))
    }
    return result
  }

  #projection(node: ProjectionNode, scope: TypeScope | undefined): Type {
    const operand = this.type(node.operand, scope)
    if (node.fields === undefined) return anyType
    const element = this.#solver.variable()
    const inner = new TypeScope(shortParameter, monomorphic(element), scope)
    const fields = new Map(node.fields.map(({ name, value }) => [name, this.#projected(value, inner)]))
    const lambda: FunctionType = {
      kind: 'function',
      parameters: [{ name: undefined, type: element }],
      rest: undefined,
      result: { kind: 'record', fields, wildcard: undefined, span: this.span(node) },
    }
    this.projections.push({ node, operand })
    return this.#result(operand, this.span(node), result => ({ kind: 'project', lambda, result }))
  }

  /** The parser makes a lambda of a value such as `.a + .b`. */
  #projected(value: Node, scope: TypeScope): Type {
    return this.type(isShortLambda(value) ? value.body : value, scope)
  }
}

const timeTypes: Type = { kind: 'union', members: [namedType('Time'), namedType('TransactionTime')] }

function membersOf(type: Type): readonly Type[] {
  return type.kind === 'union' ? type.members : [type]
}

function nonNull(type: Type): Type {
  return type.kind === 'difference' ? type : { kind: 'difference', of: type }
}
