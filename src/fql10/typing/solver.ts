// Checks values against uses. Values and uses of a variable are recorded as its bounds, and each of these values is
// checked against each of these uses. The algorithm is algebraic subtyping ("simple-sub") with levels for `let`;
// overloads are in `alternatives.ts`. Parameters named `va` and `ua` are the alternatives to which the value and the use
// belong.

import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { Diagnostic, Remark } from '../failure/query-failure.ts'
import type { Span } from '../syntax/source.ts'
import {
  type Alternative,
  Alternatives,
  areExclusive,
  type Conflict,
  Contradiction,
  type Group,
  loose,
  meet,
  representativeOf,
  unconditional,
} from './alternatives.ts'
import { enter, leave } from './budget.ts'
import { Comparison } from './compare.ts'
import type { Environment } from './environment.ts'
import { type CheckFailure, diagnosticOf, type Print } from './failures.ts'
import { type Checks, Instances } from './instances.ts'
import {
  anyType,
  type IntersectionType,
  levelOf,
  mapParts,
  readValue,
  type Type,
  type UnionType,
  type Use,
  Variable,
} from './terms.ts'

/** A conflict with the failure that it becomes if no alternative is left. */
interface FailedCheck extends Conflict {
  readonly failure: CheckFailure
}

/** A try of one variant of an overload. */
interface Frame {
  /** A failure at this number of crossings rejects the variant. After further variables, the alternatives decide. */
  readonly crossings: number
  readonly failures: CheckFailure[]
}

/** The constraint solver of one query, or of one function, computed field or path of a schema. */
export class Solver implements Checks {
  readonly environment: Environment
  readonly alternatives = new Alternatives()
  readonly errors: Diagnostic[] = []
  readonly warnings: Diagnostic[] = []
  /** Set by the caller, because printing depends on this file. */
  readonly print: Print
  level = 0
  site: Span | undefined
  #failures: CheckFailure[] = []
  #conflicts: FailedCheck[] = []
  #frames: Frame[] = []
  /** The number of variables between the current check and the check of the caller. */
  #crossings = 0
  #seen = new Map<Type, { readonly use: Use; readonly va: Alternative; readonly ua: Alternative }[]>()
  /** The open groups of overloads. All uses of an overload at the same site share a group. */
  readonly #groups = new Map<IntersectionType, { readonly site: Span | undefined; readonly group: Group }>()

  readonly instances: Instances = new Instances(this)
  readonly #comparison = new Comparison(this, this.instances)

  constructor(environment: Environment, print: (solver: Solver) => Print) {
    this.environment = environment
    this.print = print(this)
  }

  variable(span?: Span, lower: readonly Type[] = []): Variable {
    return new Variable(
      this.level,
      span,
      lower.map(type => ({ type, of: unconditional })),
    )
  }

  error(message: Diagnostic['message'], span: Span | undefined, remarks?: readonly Remark[]): void {
    this.errors.push(
      remarks === undefined ? { name: 'error', message, span } : { name: 'error', message, span, remarks },
    )
  }

  /** Records an error, undoes all changes and returns false if the value does not fit. */
  check(value: Type, use: Use, site: Span): boolean {
    const mark = this.alternatives.undoSteps.length
    this.site = site
    this.#failures = []
    this.#conflicts = []
    this.#frames = []
    this.#crossings = 0
    this.#seen = new Map()
    this.walk(value, unconditional, use, unconditional)
    let failures: readonly CheckFailure[] | undefined = this.#failures.length > 0 ? this.#failures : undefined
    if (failures === undefined && this.#conflicts.length > 0) failures = this.#resolve()
    if (failures === undefined) {
      this.alternatives.undoSteps.length = 0
      return true
    }
    this.alternatives.undo(mark)
    this.errors.push(diagnosticOf(failures, value, use, site, this.print))
    return false
  }

  /** Applies the conflicts of the check. If no alternative is left, returns the failures that the error shows. */
  #resolve(): readonly CheckFailure[] | undefined {
    try {
      this.alternatives.apply(this.#conflicts)
      return undefined
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error
      const own = this.#conflicts.filter(
        ({ value, use }) => error.group !== undefined && use.group === error.group && value === error.source,
      )
      const found = own.length > 0 ? own : this.#conflicts.filter(({ use }) => use === unconditional)
      const last = found.at(-1)
      const isSpread = last !== undefined && found.some(({ use }) => use !== last.use)
      const shown =
        isSpread && last.use.group.isExclusive ? found.filter(({ key }) => key === last.key) : found
      return shown.map(({ failure }) => failure).reverse()
    }
  }

  /**
   * Records a failure. The failure rejects the variant that is being tried, or the value of the check, or is a conflict
   * between two alternatives. Failures of {@link loose} bounds are ignored.
   */
  fail(failure: CheckFailure, value: object, va: Alternative, ua: Alternative): void {
    const frame = this.#frames.at(-1)
    if (frame !== undefined && frame.crossings === this.#crossings) frame.failures.push(failure)
    else if (va === loose || ua === loose) return
    else if (va === unconditional && ua === unconditional) this.#failures.push(failure)
    else this.#conflicts.push({ value: va, use: ua, key: value, failure })
  }

  walk(value: Type, fromValue: Alternative, use: Use, fromUse: Alternative): void {
    enter()
    if (value !== use) this.#dispatch(value, fromValue, use, fromUse)
    leave()
  }

  #dispatch(value: Type, fromValue: Alternative, use: Use, fromUse: Alternative): void {
    const va = representativeOf(fromValue)
    const ua = representativeOf(fromUse)
    if (va.isDead || ua.isDead || areExclusive(va, ua)) return
    if (use.kind === 'variable' && levelOf(value) <= use.level) this.#flowIn(value, va, use, ua)
    else if (value.kind === 'variable' && levelOf(use) <= value.level) this.#flowOut(value, va, use, ua)
    else if (use.kind === 'variable') {
      if (this.#isNew(value, va, use, ua)) {
        this.walk(this.#extrude(value, true, use.level, va, ua), va, use, ua)
      }
    } else if (value.kind === 'variable') {
      if (this.#isNew(value, va, use, ua)) {
        this.walk(value, va, this.#extrude(use, false, value.level, va, ua), ua)
      }
    } else if (value.kind === 'union') this.#each(value, va, use, ua)
    else if (use.kind === 'intersection') for (const each of use.members) this.walk(value, va, each, ua)
    else if (value.kind === 'any') this.#comparison.any(va, use, ua)
    else if (use.kind === 'any' || value.kind === 'never') return
    else if (value.kind === 'difference') this.#comparison.difference(value.of, va, use, ua)
    else if (use.kind === 'guard') this.#comparison.difference(value, va, use.use, ua)
    else if (value.kind === 'intersection') this.#intersection(value, va, use, ua)
    else if (use.kind === 'union') this.#union(value, va, use, ua)
    else this.#comparison.compare(value, va, use, ua)
  }

  /** Checks the last member first, because printing shows the newest bounds first. */
  #each({ members }: UnionType, va: Alternative, use: Use, ua: Alternative): void {
    for (let at = members.length - 1; at >= 0; at--) this.walk(members[at] as Type, va, use, ua)
  }

  /** Returns false if these terms of different levels were compared before in this check. */
  #isNew(value: Type, va: Alternative, use: Use, ua: Alternative): boolean {
    const seen = upsert(this.#seen, value, () => [])
    if (seen.some(each => each.use === use && each.va === va && each.ua === ua)) return false
    seen.push({ use, va, ua })
    return true
  }

  /** Adds a lower bound to a variable, and checks it against all upper bounds. */
  #flowIn(value: Type, va: Alternative, use: Variable, ua: Alternative): void {
    if (value.kind === 'union') {
      this.#each(value, va, use, ua)
      return
    }
    const of = meet(va, ua)
    if (!this.#add(use, use.lower, value, of)) return
    this.#crossings++
    for (let at = 0; at < use.upper.length; at++) {
      const bound = use.upper[at] as (typeof use.upper)[number]
      this.walk(value, of, bound.type, bound.of)
    }
    this.#crossings--
  }

  /** Adds an upper bound to a variable, and checks all lower bounds against it. */
  #flowOut(value: Variable, va: Alternative, use: Use, ua: Alternative): void {
    if (use.kind === 'intersection') {
      for (const each of use.members) this.walk(value, va, each, ua)
      return
    }
    if (use.kind === 'any') return
    const of = meet(va, ua)
    if (!this.#add(value, value.upper, use, of)) return
    this.#crossings++
    const { initialCount } = value
    // The initial bounds are checked from the last to the first, like the members of a union (`#each`).
    for (let at = Math.min(initialCount, value.lower.length) - 1; at >= 0; at--) this.#out(value, at, use, of)
    for (let at = initialCount; at < value.lower.length; at++) this.#out(value, at, use, of)
    this.#crossings--
  }

  #out({ lower }: Variable, at: number, use: Use, of: Alternative): void {
    const bound = lower[at] as (typeof lower)[number]
    this.walk(bound.type, bound.of, use, of)
  }

  /** Returns false if the variable has the bound already. */
  #add<T extends Use>(
    variable: Variable,
    list: { readonly type: T; readonly of: Alternative }[],
    type: T,
    of: Alternative,
  ): boolean {
    const known = upsert(variable.known, type, () => [])
    if (known.includes(of)) return false
    known.push(of)
    list.push({ type, of })
    this.alternatives.undoSteps.push(() => {
      list.pop()
      const left = variable.known.get(type)
      left?.pop()
      if (left?.length === 0) variable.known.delete(type)
    })
    if (of !== unconditional && of !== loose) this.alternatives.lowerLevel(of.group, variable.level)
    return true
  }

  /** Copies a term down to a lower level. The copies of variables are linked to their originals. */
  #extrude<T extends Use>(term: T, isValue: boolean, level: number, va: Alternative, ua: Alternative): T {
    const copies = new Map<string, Variable>()
    const copy = <U extends Use>(part: U, positive: boolean): U => {
      if (levelOf(part) <= level) return part
      if (part.kind === 'generic') {
        this.#escape(part as Type & { kind: 'generic' }, va, ua)
        return anyType as U
      }
      // The copy of a variable is a variable, so it has the same type.
      if (part instanceof Variable) return copyVariable(part, positive) as unknown as U
      return mapParts(part, (each, flip) => copy(each, positive !== flip))
    }
    const copyVariable = (variable: Variable, positive: boolean): Variable => {
      const key = `${variable.id} ${positive}`
      const known = copies.get(key)
      if (known !== undefined) return known
      const fresh = new Variable(level, variable.span)
      copies.set(key, fresh)
      fresh.isPoisoned = variable.isPoisoned
      fresh.initialCount = variable.initialCount
      if (positive) {
        this.#add(variable, variable.upper, fresh, unconditional)
        for (const { type, of } of variable.lower) this.#add(fresh, fresh.lower, copy(type, true), of)
      } else {
        this.#add(variable, variable.lower, fresh, unconditional)
        for (const { type, of } of variable.upper) this.#add(fresh, fresh.upper, copy(type, false), of)
      }
      return fresh
    }
    return copy(term, isValue)
  }

  /** Records a failure: a type parameter must not leave its definition. */
  #escape(generic: Type & { kind: 'generic' }, va: Alternative, ua: Alternative): void {
    const { name, span } = generic
    const message = () => msg`Value cannot be constrained by inner generic type \`${name}\``
    const remarks = (): Remark[] =>
      span === undefined ? [] : [{ name: 'hint', message: 'Generic type definition', span }]
    this.fail({ kind: 'other', span: this.site, message, remarks }, generic, va, ua)
  }

  // The variants of overloads and of unions that are used.

  #intersection(value: IntersectionType, va: Alternative, use: Use, ua: Alternative): void {
    this.#variants(value.members.length, va, ua, value, (index, of) =>
      this.walk(value.members[index] as Type, of, use, ua),
    )
  }

  #union(value: Type, va: Alternative, use: UnionType, ua: Alternative): void {
    // A literal in a union of literals, the most frequent union, needs no group.
    if (value.kind === 'literal' && use.members.every(({ kind }) => kind === 'literal' || kind === 'named')) {
      if (use.members.some(each => each.kind === 'literal' && readValue(each) === readValue(value))) return
    }
    // A type such as `Ref<User>` is itself a union, whose parts may fit different members.
    if (
      value.kind === 'named' &&
      !use.members.some(each => each.kind === 'named' && each.name === value.name)
    ) {
      const alias = this.instances.alias(value)
      if (alias?.kind === 'union') {
        this.walk(alias, va, use, ua)
        return
      }
    }
    this.#variants(use.members.length, va, ua, use, (index, of) =>
      this.walk(value, va, use.members[index] as Type, of),
    )
  }

  /** Checks that at least one variant fits. */
  #variants(
    size: number,
    va: Alternative,
    ua: Alternative,
    term: IntersectionType | UnionType,
    walk: (index: number, of: Alternative) => void,
  ): void {
    const { undoSteps } = this.alternatives
    const shared = term.kind === 'intersection' ? this.#groups.get(term) : undefined
    if (shared !== undefined && shared.site === this.site) {
      for (const each of shared.group.alternatives) walk(each.index, each)
      return
    }
    const stepsAtStart = undoSteps.length
    const isExclusive = term.kind === 'intersection' && parameterCount(term) > 1
    const group = this.alternatives.open(size, isExclusive, this.level, [va, ua])
    const failed: CheckFailure[] = []
    const possible: Alternative[] = []
    const conflicts = this.#conflicts
    const conflictsAtStart = conflicts.length
    for (const each of group.alternatives) {
      const stepsBefore = undoSteps.length
      const conflictsBefore = conflicts.length
      const frame: Frame = { crossings: this.#crossings, failures: [] }
      this.#frames.push(frame)
      walk(each.index, each)
      this.#frames.pop()
      if (frame.failures.length > 0) {
        this.alternatives.undo(stepsBefore)
        conflicts.length = conflictsBefore
        failed.push(...frame.failures)
        each.isDead = true
      } else if (undoSteps.length === stepsBefore && conflicts.length === conflictsBefore) {
        // The variant fits without any condition, so no other variant is needed.
        this.alternatives.undo(stepsAtStart)
        conflicts.length = conflictsAtStart
        return
      } else possible.push(each)
    }
    const [only] = possible
    if (only === undefined) {
      this.alternatives.undo(stepsAtStart)
      for (const failure of failed.reverse()) this.fail(failure, term, va, ua)
    } else if (possible.length === 1) {
      const parent = meet(va, ua)
      only.replacement = parent
      for (let at = conflictsAtStart; at < conflicts.length; at++) this.#retarget(at)
    } else if (term.kind === 'intersection' && possible.length === size) {
      this.#groups.set(term, { site: this.site, group })
      undoSteps.push(() => this.#groups.delete(term))
    }
  }

  /** After an alternative was replaced by its parent, a conflict may have become a failure. */
  #retarget(at: number): void {
    const conflict = this.#conflicts[at] as FailedCheck
    const value = representativeOf(conflict.value)
    const use = representativeOf(conflict.use)
    if (value === unconditional && use === unconditional) {
      this.#failures.push(conflict.failure)
      this.#conflicts[at] = { ...conflict, value: loose, use: loose }
    } else this.#conflicts[at] = { ...conflict, value, use }
  }
}

/** Includes the parameters of functions that the overload returns. */
function parameterCount(type: Type): number {
  if (type.kind === 'intersection') return Math.max(0, ...type.members.map(parameterCount))
  if (type.kind !== 'function') return 0
  return type.parameters.length + (type.rest === undefined ? 0 : 1) + parameterCount(type.result)
}
