// Simplifies collected types: removes variables that say nothing, and unites variables that always occur together.

import type { CollectedVariable, Collection, Part } from './parts.ts'

/** A position contains variables, and names and literals, which are compared as texts. */
type Occurrence = CollectedVariable | string

/** Changes the parts: removes and unites variables. */
export function simplify({ root, recursions }: Collection): void {
  const occurrences = {
    values: new Map<CollectedVariable, Set<Occurrence>>(),
    uses: new Map<CollectedVariable, Set<Occurrence>>(),
  }
  const names = new Set<CollectedVariable>()
  const visited = new Set<Part>()
  const visit = (part: Part): void => {
    if (visited.has(part)) return
    visited.add(part)
    const all: readonly Occurrence[] = [
      ...part.variables,
      ...[...part.names].map(name => `name ${name}`),
      ...[...part.literals.keys()],
    ]
    for (const name of part.variables) note(name, part, all)
    for (const name of part.nonNull) note(name, part, [name])
    for (const child of part.children()) visit(child)
  }
  const note = (name: CollectedVariable, part: Part, all: readonly Occurrence[]): void => {
    names.add(name)
    const map = part.isValue ? occurrences.values : occurrences.uses
    const known = map.get(name)
    if (known === undefined) map.set(name, new Set(all))
    else for (const each of known) if (!all.includes(each)) known.delete(each)
    const recursion = recursions.get(name)
    if (recursion !== undefined) visit(recursion)
  }
  visit(root)
  const replaced = unite(names, occurrences, recursions)
  for (const part of visited) apply(part, replaced)
  for (const part of visited) part.tidy()
}

interface Occurrences {
  readonly values: Map<CollectedVariable, Set<Occurrence>>
  readonly uses: Map<CollectedVariable, Set<Occurrence>>
}

/** The replacements of variables. Returns undefined for variables that are removed. */
function unite(
  names: ReadonlySet<CollectedVariable>,
  { values, uses }: Occurrences,
  recursions: ReadonlyMap<CollectedVariable, Part>,
): Map<CollectedVariable, CollectedVariable | undefined> {
  const replaced = new Map<CollectedVariable, CollectedVariable | undefined>()
  for (const name of names) {
    if (!recursions.has(name) && values.has(name) !== uses.has(name)) replaced.set(name, undefined)
  }
  for (const name of names) {
    for (const [own, opposite] of [
      [values, uses],
      [uses, values],
    ] as const) {
      if (replaced.has(name)) break
      for (const other of own.get(name) ?? []) {
        if (typeof other === 'string') {
          if (opposite.get(name)?.has(other)) replaced.set(name, undefined)
        } else if (
          other !== name &&
          !replaced.has(other) &&
          !recursions.has(name) &&
          !recursions.has(other) &&
          own.get(other)?.has(name)
        ) {
          replaced.set(other, name)
          const theirs = opposite.get(other)
          const mine = opposite.get(name)
          if (theirs !== undefined && mine !== undefined) {
            for (const each of mine) if (each !== name && !theirs.has(each)) mine.delete(each)
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
    for (const name of before) {
      let now: CollectedVariable | undefined = name
      while (now !== undefined && replaced.has(now)) now = replaced.get(now)
      if (now !== undefined) set.add(now)
    }
  }
}
