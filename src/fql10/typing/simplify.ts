// Simplifies collected types: removes redundant variables, and unites variables that always occur together.

import type { CollectedVariable, Collection, Part } from './parts.ts'

/** A variable at a position, or the text of a name or of a literal. */
type Occurrence = CollectedVariable | string

/** Changes the parts: removes and unites variables. */
export function simplify({ root, recursions }: Collection): void {
  const occurrences: Occurrences = { values: new Map(), uses: new Map() }
  const variables = new Set<CollectedVariable>()
  const visited = new Set<Part>()
  const visit = (part: Part): void => {
    if (visited.has(part)) return
    visited.add(part)
    const all: readonly Occurrence[] = [
      ...part.variables,
      ...[...part.names].map(name => `name ${name}`),
      ...[...part.literals.keys()],
    ]
    for (const variable of part.variables) note(variable, part, all)
    for (const variable of part.nonNull) note(variable, part, [variable])
    for (const child of part.children()) visit(child)
  }
  const note = (variable: CollectedVariable, part: Part, all: readonly Occurrence[]): void => {
    variables.add(variable)
    const map = part.isValue ? occurrences.values : occurrences.uses
    const known = map.get(variable)
    if (known === undefined) map.set(variable, new Set(all))
    else for (const each of known) if (!all.includes(each)) known.delete(each)
    const recursion = recursions.get(variable)
    if (recursion !== undefined) visit(recursion)
  }
  visit(root)
  const replaced = unite(variables, occurrences, recursions)
  for (const part of visited) apply(part, replaced)
  for (const part of visited) part.tidy()
}

/** The contents that all positions of a variable have in common. */
interface Occurrences {
  readonly values: Map<CollectedVariable, Set<Occurrence>>
  readonly uses: Map<CollectedVariable, Set<Occurrence>>
}

/** Returns the replacement of each variable that disappears; undefined for a variable that is only removed. */
function unite(
  variables: ReadonlySet<CollectedVariable>,
  { values, uses }: Occurrences,
  recursions: ReadonlyMap<CollectedVariable, Part>,
): Map<CollectedVariable, CollectedVariable | undefined> {
  const replaced = new Map<CollectedVariable, CollectedVariable | undefined>()
  for (const variable of variables) {
    if (!recursions.has(variable) && values.has(variable) !== uses.has(variable)) {
      replaced.set(variable, undefined)
    }
  }
  for (const variable of variables) {
    for (const [own, opposite] of [
      [values, uses],
      [uses, values],
    ] as const) {
      if (replaced.has(variable)) break
      for (const other of own.get(variable) ?? []) {
        if (typeof other === 'string') {
          // The type occurs with every value and with every use of the variable, so the type is enough.
          if (opposite.get(variable)?.has(other)) replaced.set(variable, undefined)
        } else if (
          other !== variable &&
          !replaced.has(other) &&
          !recursions.has(variable) &&
          !recursions.has(other) &&
          own.get(other)?.has(variable)
        ) {
          replaced.set(other, variable)
          const theirs = opposite.get(other)
          const mine = opposite.get(variable)
          if (theirs !== undefined && mine !== undefined) {
            for (const each of mine) if (each !== variable && !theirs.has(each)) mine.delete(each)
          }
        }
      }
    }
  }
  return replaced
}

function apply(part: Part, replaced: ReadonlyMap<CollectedVariable, CollectedVariable | undefined>): void {
  for (const set of [part.variables, part.nonNull]) {
    const before = [...set]
    set.clear()
    for (const variable of before) {
      let now: CollectedVariable | undefined = variable
      while (now !== undefined && replaced.has(now)) now = replaced.get(now)
      if (now !== undefined) set.add(now)
    }
  }
}
