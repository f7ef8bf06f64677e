// The parameters of a compiled operation. The values depend on the variables of a request, so each request computes them
// again for the same compiled expression.

import type { FieldNode, GraphQLField } from 'graphql'
import { upsert } from '../../base/upsert.ts'
import type { Session } from '../../model/session.ts'
import type { Value } from '../../values/value.ts'
import type { Library } from '../library.ts'
import { type Fql, variable } from './fql.ts'
import type { Variables } from './selections.ts'

/** The values of a request that parameters depend on. */
export interface ParameterInputs {
  readonly session: Session
  readonly variables: Variables
  /** The coerced arguments of fields that were computed before. */
  readonly known: Map<FieldNode, Readonly<Record<string, unknown>>>
}

/** Throws OperationError for an invalid value. */
type Parameter = (inputs: ParameterInputs) => Value

export type ArgumentsOf = (inputs: ParameterInputs) => Readonly<Record<string, unknown>>

export function argumentsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  library: Library,
): ArgumentsOf {
  return ({ known, variables }) =>
    upsert(known, node, () => library.getArgumentValues(field, node, variables))
}

export class Parameters {
  readonly #all: Parameter[] = []
  readonly #checks: ((inputs: ParameterInputs) => void)[] = []

  get names(): readonly string[] {
    return this.#all.map((_, at) => `p${at}`)
  }

  /** `check` runs for each request, and throws OperationError. */
  check(check: (inputs: ParameterInputs) => void): void {
    this.#checks.push(check)
  }

  /** Returns the expression of the parameter's variable. */
  add(parameter: Parameter): Fql {
    this.#all.push(parameter)
    return variable(`p${this.#all.length - 1}`)
  }

  /** Throws OperationError if a check fails or a value is invalid. */
  values(inputs: ParameterInputs): readonly Value[] {
    for (const check of this.#checks) check(inputs)
    return this.#all.map(parameter => parameter(inputs))
  }
}
