// Decides which alternatives of overloads apply. A use of an overload opens a *group* with one alternative per variant.
// Every bound that follows from a variant belongs to the variant's alternative. A value that a variant does not accept
// is a conflict between two alternatives. Conflicts, and the rule that every group needs an alternative, make
// alternatives required or dead; the rest stays open. This is unit propagation over clauses, without a search. The
// search is in `resolve-overloads.ts`, for types whose overloads are still open at the end of a `let` or of a query.

import { spend } from './budget.ts'

/** The variants of an overload at one call site. */
export class Group {
  /** True if values must not be spread over several alternatives. */
  readonly isExclusive: boolean
  /** The use of the overload itself belongs to these alternatives. */
  readonly parents: readonly Alternative[]
  readonly alternatives: readonly Alternative[]
  /**
   * The rejected values of each *source*: an alternative whose values the group must accept. Contains only sources with
   * a value that an alternative of this group rejected.
   */
  readonly rejectionsBySource = new Map<Alternative, Rejections>()
  /** The lowest level of the variables whose bounds belong to this group. */
  level: number

  constructor(size: number, isExclusive: boolean, level: number, parents: readonly Alternative[]) {
    this.isExclusive = isExclusive
    this.level = level
    this.parents = parents
    this.alternatives = Array.from({ length: size }, (_, index) => new Alternative(this, index))
  }

  get live(): readonly Alternative[] {
    return this.alternatives.filter(each => !each.isDead)
  }

  /** True if exactly the required alternatives apply. */
  get isDecided(): boolean {
    return this.alternatives.every(each => each.isDead || each.isRequired)
  }
}

/** The rejected values, each with the alternatives that reject the value. */
type Rejections = Map<object, Set<Alternative>>

/** A variant of an overload, at one call site. */
export class Alternative {
  readonly group: Group
  readonly index: number
  isDead = false
  isRequired = false
  /** True if no alternative accepts all values of a source, and this alternative accepts some of these values. */
  isSpread = false
  /** The parent that replaces this alternative, if no other alternative of the group was possible from the start. */
  replacement: Alternative | undefined
  /** The groups that rejected a value of this alternative. Not maintained for {@link unconditional}. */
  readonly rejectingGroups = new Set<Group>()
  /** The groups of overloads that are used within this variant. */
  readonly innerGroups: Group[] = []

  constructor(group: Group, index: number) {
    this.group = group
    this.index = index
  }
}

/** Everything that does not depend on an overload. */
export const unconditional: Alternative = new Group(1, true, 0, []).alternatives[0] as Alternative
unconditional.isRequired = true

/** Bounds that depend on several alternatives at once. Conflicts of these bounds are ignored. */
export const loose: Alternative = new Group(1, false, 0, []).alternatives[0] as Alternative
loose.isRequired = true

/** The alternative itself, or the parent that replaces the alternative. */
export function representativeOf(of: Alternative): Alternative {
  let found = of
  while (found.replacement !== undefined) found = found.replacement
  return found
}

/** True if `inner` is the alternative `outer`, or belongs to a group within it. */
function isWithin(inner: Alternative, outer: Alternative): boolean {
  if (outer === unconditional || inner === outer) return true
  return inner.group.parents.some(parent => isWithin(representativeOf(parent), outer))
}

/** True if two alternatives cannot apply to the same value: they, or alternatives around them, are of one group. */
export function areExclusive(left: Alternative, right: Alternative): boolean {
  if (left === unconditional || right === unconditional || left === right) return false
  if (left.group === right.group) return true
  const up = (from: Alternative, to: Alternative) =>
    from.group.parents.some(parent => areExclusive(representativeOf(parent), to))
  return up(left, right) || up(right, left)
}

/** The alternative of a bound that follows from bounds of two alternatives. */
export function meet(left: Alternative, right: Alternative): Alternative {
  if (left === right || right === unconditional) return left
  if (left === unconditional) return right
  if (isWithin(left, right)) return left
  return isWithin(right, left) ? right : loose
}

/** Thrown if no alternative is left. */
export class Contradiction {
  /** The alternative whose values no alternative of `group` accepts. Undefined if the reason is indirect. */
  readonly source: Alternative | undefined
  readonly group: Group | undefined

  constructor(source?: Alternative, group?: Group) {
    this.source = source
    this.group = group
  }
}

/** A check that failed between two alternatives. */
export interface Conflict {
  readonly value: Alternative
  readonly use: Alternative
  /** The rejected value. */
  readonly key: object
}

export class Alternatives {
  /** Functions that undo the changes, in order. */
  readonly undoSteps: (() => void)[] = []
  #queue: (() => void)[] = []

  /** Undoes all changes after a mark, which is a former length of `undoSteps`. */
  undo(mark: number): void {
    while (this.undoSteps.length > mark) this.undoSteps.pop()?.()
  }

  /** `parents`: the alternatives of other groups in which the overload occurs. */
  open(size: number, isExclusive: boolean, level: number, parents: readonly Alternative[]): Group {
    const around = [...new Set(parents)].filter(each => each !== unconditional)
    const group = new Group(size, isExclusive, level, around.length === 0 ? [unconditional] : around)
    for (const parent of group.parents) {
      if (parent === unconditional) continue
      parent.innerGroups.push(group)
      this.undoSteps.push(() => parent.innerGroups.pop())
    }
    return group
  }

  lowerLevel(group: Group, level: number): void {
    if (group.level > level) this.#assign(group, 'level', level)
  }

  #assign<T, K extends keyof T>(target: T, key: K, value: T[K]): void {
    const before = target[key]
    target[key] = value
    this.undoSteps.push(() => {
      target[key] = before
    })
  }

  /** Throws a Contradiction. */
  apply(conflicts: readonly Conflict[]): void {
    const dead: Alternative[] = []
    const touched = new Set<Group>()
    for (const { value, use, key } of conflicts) {
      if (value === use || isWithin(value, use)) dead.push(value)
      else {
        this.#reject(value, use, key)
        touched.add(use.group)
      }
    }
    this.run(() => {
      for (const each of dead) this.kill(each)
      for (const group of touched)
        for (const source of group.rejectionsBySource.keys()) this.#propagateSource(source, group)
    })
  }

  #reject(value: Alternative, use: Alternative, key: object): void {
    const { group } = use
    let rejections = group.rejectionsBySource.get(value)
    if (rejections === undefined) {
      rejections = new Map()
      group.rejectionsBySource.set(value, rejections)
      this.undoSteps.push(() => group.rejectionsBySource.delete(value))
      if (value !== unconditional) this.#link(value, group)
    }
    let by = rejections.get(key)
    if (by === undefined) {
      by = new Set()
      const all = rejections
      all.set(key, by)
      this.undoSteps.push(() => all.delete(key))
    }
    if (by.has(use)) return
    const set = by
    set.add(use)
    this.undoSteps.push(() => set.delete(use))
  }

  #link(value: Alternative, group: Group): void {
    value.rejectingGroups.add(group)
    this.undoSteps.push(() => value.rejectingGroups.delete(group))
    this.lowerLevel(group, value.group.level)
    this.lowerLevel(value.group, group.level)
  }

  /** Runs changes and everything that follows from them. Throws a Contradiction. */
  run(change: () => void): void {
    this.#queue = []
    change()
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      spend()
      next()
    }
  }

  /** Throws a Contradiction. */
  require(alternative: Alternative): void {
    if (alternative.isRequired) return
    if (alternative.isDead) throw new Contradiction(undefined, alternative.group)
    this.#assign(alternative, 'isRequired', true)
    const { group } = alternative
    for (const parent of group.parents) this.#queue.push(() => this.require(parent))
    if (group.isExclusive) {
      for (const other of group.alternatives) if (other !== alternative) this.kill(other)
    }
    for (const each of alternative.rejectingGroups)
      this.#queue.push(() => this.#propagateSource(alternative, each))
    for (const inner of alternative.innerGroups) {
      this.#queue.push(() => this.#propagateGroup(inner))
      for (const source of inner.rejectionsBySource.keys())
        this.#queue.push(() => this.#propagateSource(source, inner))
    }
  }

  /** Throws a Contradiction. */
  kill(alternative: Alternative): void {
    if (alternative.isDead) return
    if (alternative.isRequired) throw new Contradiction(undefined, alternative.group)
    this.#assign(alternative, 'isDead', true)
    const { group } = alternative
    this.#queue.push(() => this.#propagateGroup(group))
    for (const source of group.rejectionsBySource.keys())
      this.#queue.push(() => this.#propagateSource(source, group))
    for (const inner of alternative.innerGroups) {
      for (const each of inner.alternatives) this.#queue.push(() => each.isDead || this.kill(each))
    }
  }

  /** Applies the rule that a group needs an alternative. */
  #propagateGroup(group: Group): void {
    const { live } = group
    const open = group.parents.filter(each => !each.isRequired)
    const [only] = live
    if (live.length === 0) this.#refute(open, undefined, group)
    else if (live.length === 1 && open.length === 0) this.require(only as Alternative)
  }

  /** Applies the rule that a group must accept all values of a source. */
  #propagateSource(source: Alternative, group: Group): void {
    if (source.isDead) return
    const rejections = group.rejectionsBySource.get(source)
    if (rejections === undefined) return
    const open = [source, ...group.parents].filter(each => !each.isRequired)
    const accepting = acceptingOf(rejections, group)
    if (accepting === undefined) this.#refute(open, source, group)
    else if (open.length > 0) return
    else if (accepting.isSpread) this.#spread(accepting.of, [...rejections.values()])
    else if (accepting.of.length === 1) this.require(accepting.of[0] as Alternative)
    else if (group.isExclusive) {
      for (const each of group.live) if (!accepting.of.includes(each)) this.kill(each)
    }
  }

  /** Several alternatives accept different values. An alternative that alone accepts a value is required. */
  #spread(accepting: readonly Alternative[], rejecting: readonly ReadonlySet<Alternative>[]): void {
    for (const each of accepting) if (!each.isSpread) this.#assign(each, 'isSpread', true)
    for (const by of rejecting) {
      const [only, ...others] = accepting.filter(each => !by.has(each))
      if (only !== undefined && others.length === 0) this.require(only)
    }
  }

  /** Concludes that not all of `open` apply: a single alternative is dead. Without any, throws a Contradiction. */
  #refute(open: readonly Alternative[], source: Alternative | undefined, group: Group): void {
    const [only] = open
    if (only === undefined) throw new Contradiction(source, group)
    if (open.length === 1) this.kill(only)
  }
}

/**
 * The alternatives that accept the values of a source. If `isSpread` is false, each of these alternatives accepts all
 * values, otherwise only all of them together do. Returns undefined if there are no such alternatives.
 */
function acceptingOf(
  rejections: Rejections,
  group: Group,
): { readonly of: readonly Alternative[]; readonly isSpread: boolean } | undefined {
  const { live } = group
  const rejecting = [...rejections.values()]
  const single = live.filter(each => !rejecting.some(by => by.has(each)))
  if (single.length > 0) return { of: single, isSpread: false }
  if (group.isExclusive) return undefined
  const spread = new Set<Alternative>()
  for (const by of rejecting) {
    const accepting = live.filter(each => !by.has(each))
    if (accepting.length === 0) return undefined
    for (const each of accepting) spread.add(each)
  }
  return { of: live.filter(each => spread.has(each)), isSpread: true }
}
