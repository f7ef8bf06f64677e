// The table of subtyping: decides whether a concrete value fits a use. Variables, unions of values and overloads are in
// `solver.ts`.

import { msg } from '../../base/message.ts'
import type { Span } from '../syntax/source.ts'
import { type Alternative, meet } from './alternatives.ts'
import type { Scheme, Shape } from './environment.ts'
import type { Print } from './failures.ts'
import type { Checks, Instances } from './instances.ts'
import { rejectionOf } from './rejection.ts'
import {
  type AccessUse,
  anyType,
  type CallUse,
  type FunctionType,
  type IntersectionType,
  isNumberWithin,
  type LiteralType,
  literalHasType,
  type NamedType,
  neverType,
  nullType,
  optional,
  type ProjectUse,
  partsOf,
  type RecordType,
  readValue,
  type SelectUse,
  stringType,
  type TupleType,
  type Type,
  type UnionType,
  type Use,
  unionOf,
  type Variable,
} from './terms.ts'

export class Comparison {
  readonly #checks: Checks
  readonly #instances: Instances

  constructor(checks: Checks, instances: Instances) {
    this.#checks = checks
    this.#instances = instances
  }

  /** Checks `value - Null`. */
  difference(value: Type, va: Alternative, use: Use, ua: Alternative): void {
    if (value.kind === 'variable') {
      this.#checks.walk(value, va, use.kind === 'guard' ? use : { kind: 'guard', use }, ua)
      return
    }
    const rest = this.#instances.withoutNull(value)
    if (rest !== undefined) this.#checks.walk(rest, va, use.kind === 'guard' ? use.use : use, ua)
  }

  /** Checks the value `Any`: its fields, elements and results are `Any`, too. */
  any(va: Alternative, use: Use, ua: Alternative): void {
    if (use.kind === 'guard') this.#checks.walk(anyType, va, use.use, ua)
    else if (use.kind !== 'difference')
      for (const part of partsOf(use, 'same')) this.#checks.walk(anyType, va, part, ua)
  }

  /** Each method in a condition returns whether it has a rule for the use. */
  compare(
    value: Exclude<Type, Variable | UnionType | IntersectionType>,
    va: Alternative,
    use: Exclude<Use, Variable | IntersectionType | UnionType>,
    ua: Alternative,
  ): void {
    if (value.kind === 'generic' || use.kind === 'generic') this.#generic(value, va, use, ua)
    else if (value.kind === 'literal' && this.#literal(value, va, use, ua)) return
    else if (value.kind === 'named' && this.#named(value, va, use, ua)) return
    else if (value.kind === 'tuple' && this.#tuple(value, va, use, ua)) return
    else if (value.kind === 'record' && this.#record(value, va, use, ua)) return
    else if (value.kind === 'function' && this.#function(value, va, use, ua)) return
    else if (value.kind === 'open' && this.#open(value, va, use, ua)) return
    else if (use.kind === 'named' && this.#instances.alias(use) !== undefined) {
      this.#checks.walk(value, va, this.#instances.alias(use) as Type, ua)
    } else this.#checks.fail(rejectionOf(value, use), value, va, ua)
  }

  #generic(value: Type, va: Alternative, use: Use, ua: Alternative): void {
    if (value.kind === 'generic' && use.kind === 'generic' && value.name === use.name) return
    const valueSpan = value.kind === 'variable' ? undefined : value.span
    const useSpan = 'span' in use && use.kind !== 'variable' ? use.span : undefined
    const isGeneric = value.kind === 'generic'
    const message = (print: Print) =>
      isGeneric
        ? msg`Generic type \`${print.value(value)}\` cannot be used as type \`${print.use(use)}\``
        : msg`Type \`${print.value(value)}\` cannot be used as generic type \`${print.use(use)}\``
    const span = isGeneric ? (useSpan ?? valueSpan) : (valueSpan ?? useSpan)
    this.#checks.fail({ kind: 'other', span, message }, value, va, ua)
  }

  #literal(value: LiteralType, va: Alternative, use: Use, ua: Alternative): boolean {
    if (use.kind === 'named' && literalHasType(value.value, use.name)) return true
    if (use.kind === 'literal') {
      if (readValue(value) === readValue(use)) return true
      const text = (print: Print) => msg`\`${print.value(value)}\` is not the value \`${print.use(use)}\``
      this.#checks.fail({ kind: 'other', span: value.span, message: text }, value, va, ua)
      return true
    }
    this.#checks.walk(this.#instances.mainType(value), va, use, ua)
    return true
  }

  #named(value: NamedType, va: Alternative, use: Use, ua: Alternative): boolean {
    if (use.kind === 'named') {
      if (value.name === use.name) {
        for (const [index, arg] of value.args.entries())
          this.#checks.walk(arg, va, use.args[index] ?? anyType, ua)
        return true
      }
      if (isNumberWithin(value.name, use.name)) return true
    }
    const shape = this.#checks.environment.shape(value.name)
    const member = this.#memberOf(shape, use)
    if (member !== undefined) {
      const [key, scheme] = member
      const type = this.#instances.instance(value, va, key, shape as Shape, scheme)
      if (use.kind === 'select') this.#checks.walk(type, va, use.result, ua)
      else if (use.kind === 'open') this.#checks.walk(type, va, use.type, ua)
      else if (use.kind === 'access') {
        const { args, result, argumentsSpan } = use
        this.#checks.walk(type, va, { kind: 'call', args, result, argumentsSpan }, ua)
      } else this.#checks.walk(type, va, use, ua)
      return true
    }
    if (use.kind === 'project') return this.#projectNamed(value, va, use, ua)
    const alias = this.#instances.alias(value)
    if (alias === undefined) return false
    this.#checks.walk(alias, va, use, ua)
    return true
  }

  #memberOf(shape: Shape | undefined, use: Use): readonly [string, Scheme] | undefined {
    if (shape === undefined) return undefined
    if (use.kind === 'select' || use.kind === 'open') {
      const field = shape.fields.get(use.field) ?? shape.member?.(use.field)
      return field && [`.${use.field}`, field]
    }
    if (use.kind === 'call' || use.kind === 'function') return shape.apply && ['()', shape.apply]
    return use.kind === 'access' ? shape.access && ['[]', shape.access] : undefined
  }

  #projectNamed(value: NamedType, va: Alternative, use: ProjectUse, ua: Alternative): boolean {
    const [element] = value.args
    const { name } = value
    const into = (type: Type, wrap: (projected: Type) => Type): boolean => {
      const projected = this.#instances.projectedOf(use.lambda, name)
      this.#checks.walk(type, va, { kind: 'project', lambda: use.lambda, result: projected }, ua)
      this.#checks.walk(wrap(projected), va, use.result, ua)
      return true
    }
    if (element !== undefined) {
      switch (name) {
        case 'Array':
        case 'Set':
        case 'EventSource':
          return into(element, projected => ({ kind: 'named', name, args: [projected], span: value.span }))
        case 'Ref':
        case 'NamedRef':
          return into(element, projected => unionOf([projected, nullType]))
        case 'EmptyRef':
        case 'EmptyNamedRef':
          return into(element, () => nullType)
      }
    }
    const alias = this.#instances.alias(value)
    if (alias !== undefined && alias.kind !== 'record') {
      this.#checks.walk(alias, va, use, ua)
      return true
    }
    if (name === 'Null') this.#checks.walk(nullType, va, use.result, ua)
    else this.#project(value, va, use, ua)
    return true
  }

  #project(value: Type, va: Alternative, { lambda, result }: ProjectUse, ua: Alternative): void {
    // The projection is a use, and its lambda a value of the same alternative.
    const [parameter] = lambda.parameters
    if (parameter === undefined) return
    this.#checks.walk(value, va, parameter.type, ua)
    this.#checks.walk(lambda.result, meet(va, ua), result, ua)
  }

  #tuple(value: TupleType, va: Alternative, use: Use, ua: Alternative): boolean {
    switch (use.kind) {
      case 'tuple': {
        const [expected, received] = [use.elements.length, value.elements.length]
        if (expected !== received) {
          const text =
            received > expected
              ? msg`Tuple contains too many elements. Expected ${expected}, received ${received}`
              : msg`Tuple does not contain enough elements. Expected ${expected}, received ${received}`
          this.#checks.fail({ kind: 'other', span: value.span, message: () => text }, value, va, ua)
          return true
        }
        for (const [index, each] of value.elements.entries()) {
          this.#checks.walk(each, va, use.elements[index] as Type, ua)
        }
        return true
      }
      case 'access': {
        const [index] = use.args
        if (use.args.length === 1 && index?.kind === 'literal' && typeof index.value === 'bigint') {
          this.#element(value, va, use, ua, index)
          return true
        }
        break
      }
      case 'named':
        if (use.name !== 'Array') return false
        break
      case 'select':
      case 'open':
      case 'project':
        break
      default:
        return false
    }
    this.#checks.walk(this.#instances.arrayOf(value), va, use, ua)
    return true
  }

  #element(value: TupleType, va: Alternative, use: AccessUse, ua: Alternative, index: LiteralType): void {
    const at = readValue(index) as bigint
    const { length } = value.elements
    if (at >= 0n) {
      // As in the hosted service, an index after the last element is not an error.
      this.#checks.walk(value.elements[Number(at)] ?? neverType, va, use.result, ua)
      return
    }
    const message = () => msg`Index ${at} out of bounds for length ${length}`
    this.#checks.fail({ kind: 'other', span: index.span, message }, value, va, ua)
  }

  #record(value: RecordType, va: Alternative, use: Use, ua: Alternative): boolean {
    switch (use.kind) {
      case 'record':
        this.#fields(value, va, use, ua)
        return true
      case 'select':
      case 'open': {
        const type = fieldOf(value, use.field)
        if (type === undefined) return false
        this.#checks.walk(type, va, use.kind === 'open' ? use.type : use.result, ua)
        return true
      }
      case 'access':
        return this.#key(value, va, use, ua)
      case 'project':
        this.#project(value, va, use, ua)
        return true
      default:
        return false
    }
  }

  #key(
    value: RecordType,
    va: Alternative,
    { args, result, argumentsSpan }: AccessUse,
    ua: Alternative,
  ): boolean {
    const [key] = args
    if (args.length !== 1 || key === undefined) return false
    const name = key.kind === 'literal' ? readValue(key) : undefined
    if (key.kind === 'literal' && typeof name === 'string') {
      const select: SelectUse = {
        kind: 'select',
        field: name,
        result,
        nameSpan: key.span,
        dot: argumentsSpan?.start,
      }
      this.#checks.walk(value, va, select, ua)
      return true
    }
    this.#checks.walk(key, ua, stringType, va)
    const types =
      value.wildcard === undefined ? [...value.fields.values()] : [...value.fields.values(), value.wildcard]
    this.#checks.walk({ kind: 'union', members: [...types, nullType] }, va, result, ua)
    return true
  }

  #fields(value: RecordType, va: Alternative, use: RecordType, ua: Alternative): void {
    const fail = (message: (print: Print) => ReturnType<typeof msg>) =>
      this.#checks.fail({ kind: 'other', span: use.span ?? value.span, message }, value, va, ua)
    for (const [name, type] of value.fields) {
      const expected = use.fields.get(name) ?? use.wildcard
      if (expected === undefined) {
        fail(print => msg`Type \`${print.value(value)}\` contains extra field \`${name}\``)
      } else this.#checks.walk(type, va, expected, ua)
    }
    for (const [name, expected] of use.fields) {
      if (value.fields.has(name)) continue
      if (value.wildcard !== undefined) this.#checks.walk(optional(value.wildcard), va, expected, ua)
      else if (!this.#admitsNull(expected)) {
        fail(print => msg`Type \`${print.value(value)}\` does not have field \`${name}\``)
      }
    }
    if (value.wildcard === undefined) return
    if (use.wildcard !== undefined) this.#checks.walk(value.wildcard, va, use.wildcard, ua)
    else fail(print => msg`Type \`${print.value(value)}\` cannot have a wildcard`)
  }

  #admitsNull(type: Type): boolean {
    switch (type.kind) {
      case 'any':
        return true
      case 'named': {
        if (type.name === 'Null') return true
        const alias = this.#instances.alias(type)
        return alias !== undefined && alias.kind !== 'record' && this.#admitsNull(alias)
      }
      case 'union':
        return type.members.some(each => this.#admitsNull(each))
      case 'intersection':
        return type.members.every(each => this.#admitsNull(each))
      default:
        return false
    }
  }

  #function(value: FunctionType, va: Alternative, use: Use, ua: Alternative): boolean {
    if (use.kind === 'call') this.#call(value, va, use, use.args, undefined, use.argumentsSpan, ua)
    else if (use.kind === 'function') {
      const args = use.parameters.map(({ type }) => type)
      this.#call(value, va, use, args, use.rest?.type, undefined, ua)
    } else return false
    return true
  }

  #call(
    value: FunctionType,
    va: Alternative,
    use: CallUse | FunctionType,
    args: readonly Type[],
    restArgument: Type | undefined,
    argumentsSpan: Span | undefined,
    ua: Alternative,
  ): void {
    const { parameters, rest, result } = value
    const [expected, received] = [parameters.length, args.length]
    if (rest === undefined ? received !== expected || restArgument !== undefined : received < expected) {
      const text =
        received > expected || restArgument !== undefined
          ? msg`Function was called with too many arguments. Expected ${expected}, received ${received}`
          : msg`Function was not called with enough arguments. Expected ${expected}, received ${received}`
      const span = argumentsSpan ?? value.span
      this.#checks.fail({ kind: 'other', span, message: () => text }, value, va, ua)
      return
    }
    for (const [index, arg] of args.entries()) {
      this.#checks.walk(arg, ua, (parameters[index] ?? rest)?.type ?? anyType, va)
    }
    if (restArgument !== undefined && rest !== undefined) this.#checks.walk(restArgument, ua, rest.type, va)
    this.#checks.walk(result, va, use.result, ua)
  }

  #open(value: Type & { kind: 'open' }, va: Alternative, use: Use, ua: Alternative): boolean {
    if ((use.kind === 'select' || use.kind === 'open') && use.field === value.field) {
      this.#checks.walk(value.type, va, use.kind === 'open' ? use.type : use.result, ua)
      return true
    }
    if (use.kind !== 'project') return false
    this.#project(value, va, use, ua)
    return true
  }
}

/** A field that only the wildcard covers may be missing. */
function fieldOf({ fields, wildcard }: RecordType, name: string): Type | undefined {
  return fields.get(name) ?? (wildcard && optional(wildcard))
}
