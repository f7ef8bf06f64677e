// Checks the types of a query.

import type { Diagnostic } from '../failure/query-failure.ts'
import type { Program } from '../syntax/nodes.ts'
import type { Source } from '../syntax/source.ts'
import { anneal } from './anneal.ts'
import { bounded } from './budget.ts'
import type { Environment } from './environment.ts'
import { monomorphic, Typer, TypeScope } from './expressions.ts'
import { Machine } from './machine.ts'
import { type PrintedType, printType } from './print.ts'
import type { Type, Use } from './terms.ts'

export interface CheckedQuery {
  /** Undefined if there are errors. */
  readonly type: string | undefined
  readonly errors: readonly Diagnostic[]
  readonly warnings: readonly Diagnostic[]
}

/** Creates a machine whose messages contain printed types. */
export function machineFor(environment: Environment): Machine {
  return new Machine(environment, machine => ({
    value: term => print(machine, term, true).text,
    use: term => print(machine, term, false).text,
  }))
}

/** Resolves the overloads before printing. */
export function print(machine: Machine, term: Use, isValue: boolean): PrintedType {
  const resolved = anneal(machine, term, -1, isValue)
  return printType(resolved, isValue, {
    withoutNull: value => machine.instances.withoutNull(value),
    isTaken: name => machine.environment.shape(name) !== undefined,
  })
}

/** `args` and `placeholders` are the types of the values that the request contains. */
export function checkQuery(
  { source, body }: Pick<Program, 'source' | 'body'>,
  environment: Environment,
  args: ReadonlyMap<string, Type>,
  placeholders: readonly Type[],
): CheckedQuery {
  const check = (): CheckedQuery => {
    const machine = machineFor(environment)
    const { errors, warnings } = machine
    let scope: TypeScope | undefined
    for (const [name, type] of args) scope = new TypeScope(name, monomorphic(type), scope)
    const type = new Typer(machine, source, placeholders).type(body, scope)
    if (errors.length > 0) return { type: undefined, errors, warnings }
    const { text, isFunction } = print(machine, type, true)
    if (isFunction) warnings.push(notCalled(source, body))
    return { type: text, errors: [], warnings }
  }
  return bounded(check, () => ({ type: 'Any', errors: [], warnings: [] }))
}

/** Warns about a result that is a function. */
function notCalled(source: Source, body: Program['body']): Diagnostic {
  const last = body.kind === 'block' ? (body.statements.at(-1) ?? body) : body
  const span = { source, start: last.start, end: last.end }
  const end = { source, start: last.end, end: last.end }
  return {
    name: 'warning',
    message: 'Function is not called.',
    span,
    remarks: [{ name: 'hint', message: 'Call the function.', span: end, suggestion: '()' }],
  }
}
