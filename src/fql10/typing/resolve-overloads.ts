// Resolves the overloads of a type that are still open. Each consistent choice of alternatives results in one variant of
// the type, which has only the bounds of these alternatives. Several variants are an overload. This is a search, whose
// size is limited: a type with too many choices is `Any`.

import { catchError } from '../../base/catch-error.ts'
import { upsert } from '../../base/upsert.ts'
import {
  type Alternative,
  Contradiction,
  type Group,
  loose,
  representativeOf,
  unconditional,
} from './alternatives.ts'
import { freshen, type Selection } from './copies.ts'
import type { Solver } from './solver.ts'
import { anyType, type Bound, mapParts, type Use, Variable } from './terms.ts'

/** The maximum number of combinations that are tried for one type. */
const combinationsMax = 256

interface OpenGroups {
  /** Groups that bounds of uses belong to: the choices of a caller. */
  readonly inputs: Map<Group, Set<Alternative>>
  /** Groups that values belong to. */
  readonly outputs: Map<Group, Set<Alternative>>
}

/**
 * `limit`: the level around the term, whose own groups stay open. The variants of a value are an intersection, the
 * variants of a use a union.
 */
export function resolveOverloads<T extends Use>(solver: Solver, term: T, limit: number, isValue = true): T {
  const groups = groupsOf(term, limit, isValue)
  if (groups === undefined) return term
  const inputs = new Map([...groups.inputs].filter(([each]) => !each.isDecided))
  const outputs = [...groups.outputs.keys()].filter(each => !each.isDecided)
  const keepLower = (of: Alternative) => of.isRequired || of.isSpread
  if (inputs.size === 0 && outputs.length === 0) return select(term, limit, of => of.isRequired, keepLower)
  const variants = variantsOf(solver, inputs, outputs)
  if (variants === undefined || variants.length === 0) return anyType as T
  const copies = variants.map(({ chosen, active }) =>
    select(
      term,
      limit,
      of => (inputs.has(of.group) ? chosen.has(of) : of.isRequired),
      of => active.has(of) || keepLower(of),
    ),
  )
  const [only] = copies
  if (copies.length === 1 && only !== undefined) return only
  // The hosted service prints variants in this order, as its tests show (tests/conformance/v10-typing).
  const members = (isValue && (inputs.size === 0 || limit >= 0) ? copies.reverse() : copies) as readonly Use[]
  // A value is a type, and so is its overload. A union can replace any use.
  return { kind: isValue ? 'intersection' : 'union', members } as unknown as T
}

/** A copy of a term with the bounds of some alternatives of groups above `limit`. */
function select<T extends Use>(
  term: T,
  limit: number,
  upper: (of: Alternative) => boolean,
  lower: (of: Alternative) => boolean,
): T {
  const isInner = (of: Alternative) => of !== unconditional && of !== loose && of.group.level > limit
  const keep = (test: (of: Alternative) => boolean) => (given: Alternative) => {
    const of = representativeOf(given)
    return !of.isDead && (!isInner(of) || test(of))
  }
  const selection: Selection = {
    lower: keep(lower),
    upper: keep(upper),
    of: given => (isInner(representativeOf(given)) ? unconditional : given),
  }
  return freshen(term, limit, limit + 1, selection)
}

/** The groups above a level to which bounds of a term belong. Returns undefined if there are none. */
function groupsOf(root: Use, limit: number, isRootValue: boolean): OpenGroups | undefined {
  const groups: OpenGroups = { inputs: new Map(), outputs: new Map() }
  const seen = new Set<string>()
  const note = ({ type: term, of }: Bound<Use>, isValue: boolean): void => {
    const found = representativeOf(of)
    if (found.isDead) return
    if (found !== unconditional && found !== loose && found.group.level > limit) {
      const into = isValue ? groups.outputs : groups.inputs
      upsert(into, found.group, () => new Set()).add(found)
    }
    visit(term, isValue)
  }
  const visit = (term: Use, isValue: boolean): void => {
    if (term instanceof Variable) {
      const key = `${term.id} ${isValue}`
      if (term.level <= limit || seen.has(key)) return
      seen.add(key)
      for (const bound of isValue ? term.lower : term.upper) note(bound, isValue)
    } else {
      mapParts(term, (part, flip) => {
        visit(part, isValue !== flip)
        return part
      })
    }
  }
  visit(root, isRootValue)
  return groups.inputs.size + groups.outputs.size === 0 ? undefined : groups
}

interface Variant {
  /** The chosen alternatives of the inputs. */
  readonly chosen: ReadonlySet<Alternative>
  /** All alternatives that the choice requires. */
  readonly active: ReadonlySet<Alternative>
}

/** The consistent choices. Returns undefined if there are too many. */
function variantsOf(
  solver: Solver,
  inputAlternatives: ReadonlyMap<Group, ReadonlySet<Alternative>>,
  outputs: readonly Group[],
): Variant[] | undefined {
  const inputs = [...inputAlternatives.keys()]
  const variants: Variant[] = []
  const { alternatives } = solver
  let tried = 0
  const choose = (at: number, chosen: readonly Alternative[]): boolean => {
    if (++tried > combinationsMax) return false
    const isOutput = at >= inputs.length
    const group = isOutput ? outputs[at - inputs.length] : inputs[at]
    if (group === undefined) {
      addVariant(variants, inputs, outputs, chosen)
      return true
    }
    // An output whose alternatives follow from other choices needs no choice.
    if (isOutput && group.live.some(each => each.isRequired)) return choose(at + 1, chosen)
    for (const each of inputAlternatives.get(group) ?? group.live) {
      const mark = alternatives.undoSteps.length
      const tryEach = () => {
        alternatives.run(() => alternatives.require(each))
        return choose(at + 1, [...chosen, each])
      }
      const isDone = catchError(Contradiction, tryEach, () => true)
      alternatives.undo(mark)
      if (!isDone) return false
    }
    return true
  }
  return choose(0, []) ? variants : undefined
}

function addVariant(
  variants: Variant[],
  inputs: readonly Group[],
  outputs: readonly Group[],
  chosen: readonly Alternative[],
): void {
  const active = new Set<Alternative>()
  for (const { alternatives } of [...inputs, ...outputs]) {
    for (const each of alternatives) if (each.isRequired) active.add(each)
  }
  const picked = new Set(chosen.filter(each => inputs.includes(each.group)))
  const isKnown = variants.some(
    known =>
      known.active.size === active.size &&
      [...active].every(each => known.active.has(each)) &&
      known.chosen.size === picked.size &&
      [...picked].every(each => known.chosen.has(each)),
  )
  if (!isKnown) variants.push({ chosen: picked, active })
}
