// Builds expressions of version 4 in the JSON of the wire protocol. In place of the JSON of a literal, an expression may
// contain a value, such as a reference (src/values/value.ts#Lambda).

import type { Value } from '../../values/value.ts'

export type Fql = Value

/** A call of a function: the function's keys with their arguments. */
export function call(entries: Readonly<Record<string, Fql>>): Fql {
  return new Map(Object.entries(entries))
}

export function variable(name: string): Fql {
  return new Map([['var', name]])
}

/** Each expression may use the names before it. */
export function letIn(bindings: readonly (readonly [string, Fql])[], body: Fql): Fql {
  if (bindings.length === 0) return body
  return new Map<string, Fql>([
    ['let', bindings.map(([name, expression]) => new Map([[name, expression]]))],
    ['in', body],
  ])
}

export function objectOf(fields: readonly (readonly [string, Fql])[]): Fql {
  return new Map([['object', new Map(fields)]])
}

export function lambda(parameter: string, body: Fql): Fql {
  return new Map<string, Fql>([
    ['lambda', parameter],
    ['expr', body],
  ])
}

export function ifElse(condition: Fql, then: Fql, otherwise: Fql): Fql {
  return call({ if: condition, then, else: otherwise })
}

/** The value of the expression is null if there is no value at the path. */
export function select(path: readonly (string | bigint)[], from: Fql): Fql {
  return call({ select: [...path], from, default: null })
}

export function map(parameter: string, body: Fql, collection: Fql): Fql {
  return call({ map: lambda(parameter, body), collection })
}

export function match(index: Fql, terms: readonly Fql[]): Fql {
  return terms.length === 0 ? call({ match: index }) : call({ match: index, terms: [...terms] })
}

/** The value of the expression is null if the set is empty. */
export function firstOf(set: Fql): Fql {
  return select(['data', 0n], call({ paginate: set, size: 1n }))
}
