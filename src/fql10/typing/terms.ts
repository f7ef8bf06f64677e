// Defines the terms of static types. A *value* is the type of an expression, and a *use* is the demand of its context.
// Most types occur as both. A field, a call and other demands that are not types are only uses.

import type { Span } from '../syntax/source.ts'
import type { Alternative } from './alternatives.ts'

interface WithSpan {
  /** Undefined for types of the library and of the schema. */
  readonly span?: Span | undefined
}

/** `null` is not a literal: its type is the named type `Null`. */
export type LiteralValue = boolean | bigint | number | string

/** Accepts everything, and is accepted everywhere. */
interface AnyType extends WithSpan {
  readonly kind: 'any'
}

/** The type of an expression that never has a value. */
interface NeverType extends WithSpan {
  readonly kind: 'never'
}

/** A value in a request. The result of a check can be used for other values of the same kind if `isRead` is false. */
export interface ArgumentValue {
  readonly value: LiteralValue
  isRead: boolean
}

/** The type of one value. Read its value with {@link readValue}, unless only its kind matters. */
export interface LiteralType extends WithSpan {
  readonly kind: 'literal'
  readonly value: LiteralValue
  /** Undefined for literals in the text of a program. */
  readonly given?: ArgumentValue
}

/** Records that the result of the check depends on the value. */
export function readValue({ given, value }: LiteralType): LiteralValue {
  if (given !== undefined) given.isRead = true
  return value
}

/** A type with a name, such as `Int` or `Set<User>`. Shapes define its fields. */
export interface NamedType extends WithSpan {
  readonly kind: 'named'
  readonly name: string
  readonly args: readonly Type[]
}

/** A type parameter of a signature. While the body of the function is checked, the parameter fits only itself. */
export interface GenericType extends WithSpan {
  readonly kind: 'generic'
  readonly name: string
  /** The {@link Variable.level} of the definition. 0 for the library. */
  readonly level: number
}

export interface ParameterType {
  /** The name, which is printed but never compared. */
  readonly name: string | undefined
  readonly type: Type
}

/** The checker compares the positions of parameters, and only prints their names. */
export interface FunctionType extends WithSpan {
  readonly kind: 'function'
  readonly parameters: readonly ParameterType[]
  readonly rest: ParameterType | undefined
  readonly result: Type
}

/** An object with exactly these fields, and with further fields of the type `wildcard` if it is defined. */
export interface RecordType extends WithSpan {
  readonly kind: 'record'
  readonly fields: ReadonlyMap<string, Type>
  readonly wildcard: Type | undefined
}

/** Any value with a field. Several fields are an intersection of such types. */
interface OpenType extends WithSpan {
  readonly kind: 'open'
  readonly field: string
  readonly type: Type
}

/** An array with a known length. Literals of arrays are tuples. */
export interface TupleType extends WithSpan {
  readonly kind: 'tuple'
  readonly elements: readonly Type[]
}

export interface UnionType extends WithSpan {
  readonly kind: 'union'
  readonly members: readonly Type[]
}

/** An intersection of functions is an overload. */
export interface IntersectionType extends WithSpan {
  readonly kind: 'intersection'
  readonly members: readonly Type[]
}

/** The type `of` without `Null`. */
interface DifferenceType extends WithSpan {
  readonly kind: 'difference'
  readonly of: Type
}

/** `of`: the alternative of an overload to which the bound belongs. */
export interface Bound<T> {
  readonly type: T
  readonly of: Alternative
}

let lastVariable = 0

/** A type that is not known yet. Its values are the lower bounds, which must fit the upper bounds, its uses. */
export class Variable implements WithSpan {
  readonly kind = 'variable'
  readonly id = ++lastVariable
  /** The depth within the values of `let`. Each mention of a name copies the deeper variables of its type. */
  readonly level: number
  readonly span: Span | undefined
  readonly lower: Bound<Type>[]
  readonly upper: Bound<Use>[] = []
  /** The number of lower bounds that were present at the start. Printing keeps the order of these bounds. */
  initialCount: number
  /** The alternatives of each bound, to find out whether a bound is present already. */
  readonly known = new Map<object, Alternative[]>()
  /** True if the variable represents an expression with an error. It is printed as `_`. */
  isPoisoned = false

  constructor(level: number, span?: Span, lower: Bound<Type>[] = []) {
    this.level = level
    this.span = span
    this.lower = lower
    this.initialCount = lower.length
  }
}

export type Type =
  | AnyType
  | NeverType
  | LiteralType
  | NamedType
  | GenericType
  | FunctionType
  | RecordType
  | OpenType
  | TupleType
  | UnionType
  | IntersectionType
  | DifferenceType
  | Variable

export interface SelectUse {
  readonly kind: 'select'
  readonly field: string
  readonly result: Type
  readonly nameSpan: Span | undefined
  /** The offset of the dot before the name, where errors about null suggest `!`. Undefined without a dot. */
  readonly dot: number | undefined
}

interface ArgumentsUse<Kind extends string> {
  readonly kind: Kind
  readonly args: readonly Type[]
  readonly result: Type
  /** Includes the brackets. */
  readonly argumentsSpan: Span | undefined
}

export type CallUse = ArgumentsUse<'call'>

/** An access such as `[0]`. */
export type AccessUse = ArgumentsUse<'access'>

/** `lambda` converts the projected value. */
export interface ProjectUse {
  readonly kind: 'project'
  readonly lambda: FunctionType
  readonly result: Type
}

/** The use of a value that is not null. Nulls are dropped. */
interface GuardUse {
  readonly kind: 'guard'
  readonly use: Use
}

/** A context's demand on a value: a type, a field, a call, an access or a projection. */
export type Use = Type | SelectUse | CallUse | AccessUse | ProjectUse | GuardUse

/** `anyType` and `neverType` have no position. */
export const anyType: AnyType = { kind: 'any' }
export const neverType: NeverType = { kind: 'never' }

export function namedType(name: string, span?: Span): NamedType {
  return { kind: 'named', name, args: [], span }
}

export const nullType = namedType('Null')
export const booleanType = namedType('Boolean')
export const stringType = namedType('String')
export const numberType = namedType('Number')

/** A single member stays as it is. */
export function unionOf(members: readonly Type[], span?: Span): Type {
  const [only] = members
  return members.length === 1 && only !== undefined ? only : { kind: 'union', members, span }
}

/** `type | Null`, unless the type is `Never` or accepts null anyway. */
export function optional(type: Type): Type {
  if (type.kind === 'any' || type.kind === 'never') return type
  if (type.kind === 'named' && type.name === 'Null') return type
  if (type.kind === 'union') {
    if (type.members.some(each => each.kind === 'named' && each.name === 'Null')) return type
    return { ...type, members: [...type.members, nullType] }
  }
  return { kind: 'union', members: [type, nullType], span: type.span }
}

export function withSpan<T extends Type>(type: T, span: Span | undefined): T {
  return type instanceof Variable ? type : { ...type, span }
}

/** The same type without positions, for another source. */
export function withoutSpans(type: Type): Type {
  if (type.kind === 'variable') return type
  const inner = mapParts(type, withoutSpans)
  return inner.span === undefined ? inner : { ...inner, span: undefined }
}

/** The type that names a literal in messages, and has its fields. */
export function mainTypeOf(value: LiteralValue): string {
  switch (typeof value) {
    case 'bigint':
      return fits(value, 32) ? 'Int' : fits(value, 64) ? 'Long' : 'Double'
    case 'number':
      return 'Double'
    case 'string':
      return 'String'
    default:
      return 'Boolean'
  }
}

function fits(value: bigint, bits: number): boolean {
  return BigInt.asIntN(bits, value) === value
}

export function literalHasType(value: LiteralValue, name: string): boolean {
  switch (typeof value) {
    case 'bigint':
      return (
        name === 'Number' ||
        name === 'Double' ||
        name === 'Float' ||
        (name === 'Int' && fits(value, 32)) ||
        ((name === 'Long' || name === 'ID') && fits(value, 64))
      )
    case 'number':
      return name === 'Number' || name === 'Double' || name === 'Float'
    case 'string':
      return name === 'String' || name === 'ID'
    default:
      return name === 'Boolean'
  }
}

/** True if every number of the type `value` is a number of the type `use`. */
export function isNumberWithin(value: string, use: string): boolean {
  const isDouble = (name: string) => name === 'Double' || name === 'Float'
  if (use === 'Number') return value === 'Int' || value === 'Long' || isDouble(value)
  if (use === 'Long') return value === 'Int'
  return isDouble(value) && isDouble(use)
}

const levels = new WeakMap<object, number>()

/** The highest level of the variables in a type. */
export function levelOf(term: Use): number {
  if (term.kind === 'variable' || term.kind === 'generic') return term.level
  if (term.kind === 'any' || term.kind === 'never' || term.kind === 'literal') return 0
  const known = levels.get(term)
  if (known !== undefined) return known
  let level = 0
  for (const part of partsOf(term)) level = Math.max(level, levelOf(part))
  levels.set(term, level)
  return level
}

const variables = new WeakMap<object, boolean>()

/** True if a term contains variables or differences. */
export function hasVariables(term: Use): boolean {
  if (term.kind === 'variable' || term.kind === 'difference') return true
  const known = variables.get(term)
  if (known !== undefined) return known
  const found = partsOf(term).some(hasVariables)
  variables.set(term, found)
  return found
}

/** `same`: only the parts that are values in a value, and uses in a use. */
export function partsOf(term: Use, position: 'any' | 'same' = 'any'): readonly Type[] {
  const parts: Type[] = []
  mapParts(term, (part, flip) => {
    if (position === 'any' || !flip) parts.push(part)
    return part
  })
  return parts
}

/**
 * `flip` is true for parts in the opposite position: for a value, the parts that are uses, and for a use, the parts
 * that are values. Returns the same term if no part changes, except for differences and for uses that are no types.
 */
export function mapParts<T extends Use>(term: T, map: (part: Type, flip: boolean) => Type): T
export function mapParts(term: Use, map: (part: Type, flip: boolean) => Type): Use {
  switch (term.kind) {
    case 'named': {
      const args = mapAll(term.args, each => map(each, false))
      return args === term.args ? term : { ...term, args }
    }
    case 'function': {
      const parameters = mapAll(term.parameters, each => mapParameter(each, map))
      const rest = term.rest && mapParameter(term.rest, map)
      const result = map(term.result, false)
      const isSame = parameters === term.parameters && rest === term.rest && result === term.result
      return isSame ? term : { ...term, parameters, rest, result }
    }
    case 'record': {
      const entries = [...term.fields]
      const fields = mapAll(entries, entry => {
        const type = map(entry[1], false)
        return type === entry[1] ? entry : ([entry[0], type] as [string, Type])
      })
      const wildcard = term.wildcard && map(term.wildcard, false)
      const isSame = fields === entries && wildcard === term.wildcard
      return isSame ? term : { ...term, fields: fields === entries ? term.fields : new Map(fields), wildcard }
    }
    case 'open': {
      const type = map(term.type, false)
      return type === term.type ? term : { ...term, type }
    }
    case 'tuple': {
      const elements = mapAll(term.elements, each => map(each, false))
      return elements === term.elements ? term : { ...term, elements }
    }
    case 'union':
    case 'intersection': {
      const members = mapAll(term.members, each => map(each, false))
      return members === term.members ? term : { ...term, members }
    }
    case 'difference':
      return { ...term, of: map(term.of, false) }
    case 'select':
      return { ...term, result: map(term.result, false) }
    case 'call':
    case 'access':
      return { ...term, args: term.args.map(each => map(each, true)), result: map(term.result, false) }
    case 'project':
      return {
        ...term,
        lambda: mapParts(term.lambda, (part, flip) => map(part, !flip)),
        result: map(term.result, false),
      }
    case 'guard':
      return { ...term, use: mapUse(term.use, map) }
    default:
      return term
  }
}

function mapUse(use: Use, map: (part: Type, flip: boolean) => Type): Use {
  switch (use.kind) {
    case 'select':
    case 'call':
    case 'access':
    case 'project':
    case 'guard':
      return mapParts(use, map)
    default:
      return map(use, false)
  }
}

function mapParameter(parameter: ParameterType, map: (part: Type, flip: boolean) => Type): ParameterType {
  const type = map(parameter.type, true)
  return type === parameter.type ? parameter : { ...parameter, type }
}

function mapAll<T>(list: readonly T[], map: (each: T) => T): readonly T[] {
  let isSame = true
  const mapped = list.map(each => {
    const result = map(each)
    if (result !== each) isSame = false
    return result
  })
  return isSame ? list : mapped
}
