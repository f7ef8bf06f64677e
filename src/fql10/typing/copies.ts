// Copies types: signatures for each use, and types of `let` for each mention of the name.

import type { Alternative } from './alternatives.ts'
import { enter, leave, spend } from './budget.ts'
import type { Scheme } from './environment.ts'
import { type Bound, type GenericType, levelOf, mapParts, type Type, type Use, Variable } from './terms.ts'

/** `of` returns the argument of a type parameter. */
export function substitute(type: Type, of: (generic: GenericType) => Type | undefined): Type {
  spend()
  if (type.kind === 'generic') return of(type) ?? type
  if (type.kind === 'variable') return type
  return mapParts(type, part => substitute(part, of))
}

/** Replaces the type parameters with these `names` by `args`, and all others by new variables. */
export function instantiate(
  { parameters, type }: Scheme,
  names: readonly string[],
  args: readonly Type[],
  level: number,
): Type {
  if (parameters.length === 0) return type
  const types = new Map<string, Type>()
  for (const [index, name] of names.entries()) types.set(name, args[index] ?? new Variable(level))
  for (const name of parameters) if (!types.has(name)) types.set(name, new Variable(level))
  return substitute(type, ({ name }) => types.get(name))
}

/** Selects the bounds that a copy keeps. */
export interface Selection {
  readonly lower: (of: Alternative) => boolean
  readonly upper: (of: Alternative) => boolean
  /** The alternative of the kept bounds in the copy. */
  readonly of: (of: Alternative) => Alternative
}

/**
 * The variables with a level above `limit` become new variables of `level`. A copy with a selection shows the bounds in
 * the order in which they were found.
 */
export function freshen<T extends Use>(type: T, limit: number, level: number, selection?: Selection): T {
  const copies = new Map<Variable, Variable>()
  const copyBounds = <U extends Use>(
    bounds: readonly Bound<U>[],
    keep: ((of: Alternative) => boolean) | undefined,
  ): Bound<U>[] =>
    bounds
      .filter(bound => keep === undefined || keep(bound.of))
      .map(bound => ({
        type: copy(bound.type),
        of: selection === undefined ? bound.of : selection.of(bound.of),
      }))
  const copy = <U extends Use>(term: U): U => {
    enter()
    const copied = copyOf(term)
    leave()
    return copied
  }
  const copyOf = <U extends Use>(term: U): U => {
    // The copy of a variable is a variable, so it has the same type.
    if (term instanceof Variable) return copyVariable(term) as unknown as U
    if (levelOf(term) <= limit && selection === undefined) return term
    return mapParts(term, part => copy(part))
  }
  const copyVariable = (variable: Variable): Variable => {
    if (variable.level <= limit) return variable
    const known = copies.get(variable)
    if (known !== undefined) return known
    const fresh = new Variable(level, variable.span)
    copies.set(variable, fresh)
    fresh.isPoisoned = variable.isPoisoned
    fresh.initialCount = selection === undefined ? variable.initialCount : Number.POSITIVE_INFINITY
    fresh.lower.push(...copyBounds(variable.lower, selection?.lower))
    fresh.upper.push(...copyBounds(variable.upper, selection?.upper))
    return fresh
  }
  return copy(type)
}
