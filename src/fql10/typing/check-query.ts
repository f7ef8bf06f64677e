// Checks the types of a query.

import type { Diagnostic } from '../failure/query-failure.ts'
import type { Program } from '../syntax/nodes.ts'
import type { Source } from '../syntax/source.ts'
import { bounded } from './budget.ts'
import type { Environment } from './environment.ts'
import { monomorphic, Typer, TypeScope } from './expressions.ts'
import { type PrintedType, printType } from './print.ts'
import { resolveOverloads } from './resolve-overloads.ts'
import { Solver } from './solver.ts'
import type { Type, Use } from './terms.ts'

export interface CheckedQuery {
  /** Undefined if there are errors. */
  readonly type: string | undefined
  readonly errors: readonly Diagnostic[]
  readonly warnings: readonly Diagnostic[]
}

/** Creates a solver whose messages contain printed types. */
export function solverFor(environment: Environment): Solver {
  return new Solver(environment, solver => ({
    value: term => print(solver, term, true).text,
    use: term => print(solver, term, false).text,
  }))
}

/** Resolves the overloads before printing. */
export function print(solver: Solver, term: Use, isValue: boolean): PrintedType {
  const resolved = resolveOverloads(solver, term, -1, isValue)
  return printType(resolved, isValue, {
    withoutNull: value => solver.instances.withoutNull(value),
    isTaken: name => solver.environment.shape(name) !== undefined,
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
    const solver = solverFor(environment)
    const { errors, warnings } = solver
    let scope: TypeScope | undefined
    for (const [name, type] of args) scope = new TypeScope(name, monomorphic(type), scope)
    const type = new Typer(solver, source, placeholders).type(body, scope)
    if (errors.length > 0) return { type: undefined, errors, warnings }
    const { text, isFunction } = print(solver, type, true)
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
