// Lists the members of the value before a name in a query, for completion.

import type { Program } from '../syntax/nodes.ts'
import { bounded } from './budget.ts'
import { print, solverFor } from './check-query.ts'
import { instantiate } from './copies.ts'
import type { Environment } from './environment.ts'
import { monomorphic, Typer, TypeScope } from './expressions.ts'
import type { Solver } from './solver.ts'
import { mainTypeOf, type NamedType, namedType, type Type, unionOf } from './terms.ts'

/** A field or method, with its type as text. */
export interface Member {
  readonly name: string
  readonly type: string
}

/**
 * The members of the value whose field or method begins at `nameStart`, in UTF-16 units. Errors in the query are
 * ignored. The result is empty if there is no field at this position, or if the type of the value is unknown.
 */
export function membersAt(
  { body, source }: Pick<Program, 'source' | 'body'>,
  environment: Environment,
  args: ReadonlyMap<string, Type>,
  nameStart: number,
): readonly Member[] {
  const list = () => {
    const solver = solverFor(environment)
    const typer = new Typer(solver, source, [], nameStart)
    let scope: TypeScope | undefined
    for (const [name, type] of args) scope = new TypeScope(name, monomorphic(type), scope)
    typer.type(body, scope)
    return typer.observed === undefined ? [] : new MemberList(solver).of(typer.observed)
  }
  return bounded(list, () => [])
}

/** Collects the members of all types that a value may have. `Null` has no useful members. */
class MemberList {
  readonly #solver: Solver
  readonly #found = new Map<string, string>()
  readonly #visited = new Set<Type>()

  constructor(solver: Solver) {
    this.#solver = solver
  }

  of(type: Type): readonly Member[] {
    this.#visit(type)
    return Array.from(this.#found, ([name, text]) => ({ name, type: text }))
  }

  #visit(type: Type): void {
    if (this.#visited.has(type)) return
    this.#visited.add(type)
    switch (type.kind) {
      case 'variable':
        for (const bound of type.lower) this.#visit(bound.type)
        return
      case 'union':
      case 'intersection':
        for (const each of type.members) this.#visit(each)
        return
      case 'difference':
        this.#visit(type.of)
        return
      case 'literal':
        this.#named(namedType(mainTypeOf(type.value)))
        return
      case 'tuple':
        this.#named({ kind: 'named', name: 'Array', args: [unionOf(type.elements)] })
        return
      case 'record':
        for (const [name, field] of type.fields) this.#add(name, field)
        return
      case 'named':
        this.#named(type)
    }
  }

  #named(type: NamedType): void {
    const { environment, instances } = this.#solver
    const shape = environment.shape(type.name)
    if (shape === undefined || type.name === 'Null') return
    const alias = instances.alias(type)
    if (alias !== undefined) this.#visit(alias)
    for (const [name, scheme] of shape.fields) {
      this.#add(name, instantiate(scheme, shape.parameters, type.args, this.#solver.level))
    }
  }

  #add(name: string, type: Type): void {
    if (!this.#found.has(name)) this.#found.set(name, print(this.#solver, type, true).text)
  }
}
