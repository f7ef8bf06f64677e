// Makes further types that checks need: types of members, arrays of tuples, and aliases. Each type is made once, so that
// recursive programs have a finite number of types.

import { upsert } from '../../base/upsert.ts'
import type { Span } from '../syntax/source.ts'
import { type Alternative, unconditional } from './alternatives.ts'
import { instantiate } from './copies.ts'
import type { Environment, Scheme, Shape } from './environment.ts'
import { type CheckFailure, spanKey } from './failures.ts'
import {
  type FunctionType,
  hasVariables,
  type LiteralType,
  levelOf,
  mainTypeOf,
  type NamedType,
  namedType,
  type TupleType,
  type Type,
  type Use,
  unionOf,
  Variable,
} from './terms.ts'

/** The check that is running. */
export interface Checks {
  readonly environment: Environment
  readonly level: number
  /** Errors underline this text of the check if the value has no text of its own. */
  readonly site: Span | undefined
  /** Checks a value of the alternative `va` against a use of the alternative `ua`. */
  walk(value: Type, va: Alternative, use: Use, ua: Alternative): void
  fail(failure: CheckFailure, value: object, va: Alternative, ua: Alternative): void
}

export class Instances {
  readonly #checks: Checks
  readonly #projected = new Map<FunctionType, Map<string, Variable>>()
  readonly #arrays = new Map<TupleType, NamedType>()
  readonly #members = new Map<
    object,
    Map<string, { readonly parameters: readonly Type[]; readonly type: Type }>
  >()

  constructor(checks: Checks) {
    this.#checks = checks
  }

  /** Returns undefined if nothing is left. Aliases are unfolded if that removes a null. */
  withoutNull(value: Type): Type | undefined {
    switch (value.kind) {
      case 'named': {
        if (value.name === 'Null') return undefined
        const alias = this.alias(value)
        if (alias === undefined || alias.kind === 'record') return value
        const rest = this.withoutNull(alias)
        return rest === alias ? value : rest
      }
      case 'union': {
        const left = value.members.flatMap(each => this.withoutNull(each) ?? [])
        if (left.length === 0) return undefined
        const isSame =
          left.length === value.members.length && left.every((each, at) => each === value.members[at])
        return isSame ? value : unionOf(left)
      }
      case 'variable':
        return { kind: 'difference', of: value }
      case 'intersection':
        return value.members.every(each => this.withoutNull(each) === undefined) ? undefined : value
      case 'difference':
        return this.withoutNull(value.of)
      default:
        return value
    }
  }

  /**
   * All values at one point of the program get the same type for a member at one call. Otherwise a recursive program
   * would have an endless sequence of types.
   */
  instance(value: NamedType, va: Alternative, key: string, shape: Shape, scheme: Scheme): Type {
    if (scheme.parameters.length === 0) return scheme.type
    const args = value.args.map(each => (hasVariables(each) ? undefined : each))
    const isClosed = !args.includes(undefined)
    const full = `${value.name}${key} ${isClosed ? '' : spanKey(value.span)} ${spanKey(this.#checks.site)}`
    const members = upsert(this.#members, isClosed ? value : scheme, () => new Map())
    const instance = upsert(members, full, () => {
      const parameters = args.map(each => each ?? new Variable(this.#checks.level))
      return { parameters, type: instantiate(scheme, shape.parameters, parameters, this.#checks.level) }
    })
    for (const [index, arg] of value.args.entries()) {
      const parameter = instance.parameters[index]
      if (parameter instanceof Variable && arg !== parameter) this.#checks.walk(arg, va, parameter, va)
    }
    return instance.type
  }

  alias(type: NamedType): Type | undefined {
    const shape = this.#checks.environment.shape(type.name)
    if (shape?.alias === undefined) return undefined
    return this.instance(type, unconditional, '=', shape, shape.alias)
  }

  readonly #mainTypes = new Map<LiteralType, NamedType>()

  mainType(value: LiteralType): NamedType {
    return upsert(this.#mainTypes, value, () => namedType(mainTypeOf(value.value), value.span))
  }

  /** The projected elements of all arrays, or all sets, of one projection. */
  projectedOf(lambda: FunctionType, name: string): Variable {
    const projected = upsert(this.#projected, lambda, () => new Map())
    return upsert(projected, name, () => new Variable(this.#checks.level))
  }

  /** Each tuple has one array type, whose element is a variable that all elements of the tuple flow into. */
  arrayOf(value: TupleType): NamedType {
    return upsert(this.#arrays, value, () => {
      const members = value.elements.flatMap(type => (type.kind === 'union' ? type.members : [type]))
      const element = new Variable(
        Math.max(this.#checks.level, levelOf(value)),
        undefined,
        members.map(type => ({ type, of: unconditional })),
      )
      return { kind: 'named', name: 'Array', args: [element], span: value.span }
    })
  }
}
