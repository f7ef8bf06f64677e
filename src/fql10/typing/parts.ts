// Collects a type: every position becomes one part, which contains all values that flow there (or, for a use, all uses)
// through variables.

import { upsert } from '../../base/upsert.ts'
import { enter, leave } from './budget.ts'
import {
  type Bound,
  type FunctionType,
  type LiteralValue,
  literalHasType,
  type NamedType,
  type RecordType,
  readValue,
  type Type,
  type Use,
  Variable,
} from './terms.ts'

/** A variable of a collected type. Recursive positions have variables of their own. */
export type CollectedVariable = Variable | { readonly kind: 'recursion'; readonly id: string }

export interface FunctionPart {
  readonly names: readonly (string | undefined)[]
  readonly parameters: Part[]
  readonly restName: string | undefined
  rest: Part | undefined
  result: Part
}

interface RecordPart {
  readonly fields: Map<string, Part>
  wildcard: Part | undefined
}

/** A position of a type: a value position is a union of its contents, a use position an intersection. */
export class Part {
  readonly isValue: boolean
  isAny = false
  isNever = false
  isPoisoned = false
  readonly variables = new Set<CollectedVariable>()
  /** The variants of overloads (values) and unions (uses). */
  readonly overloads: Part[][] = []
  readonly literals = new Map<string, LiteralValue>()
  readonly names = new Set<string>()
  /** The arguments of types such as `Set<User>`, by the names of the types. */
  readonly constructed = new Map<string, Part[]>()
  /** The keys contain the number of parameters, and whether there is a rest parameter. */
  readonly functions = new Map<string, FunctionPart>()
  readonly accesses: { readonly args: Part[]; result: Part }[] = []
  readonly projections: { lambda: Part; result: Part }[] = []
  record: RecordPart | undefined
  open: Map<string, Part> | undefined
  /** The elements, by their number. */
  readonly tuples = new Map<number, Part[]>()
  /** Values without their nulls. They are added after all other values. */
  readonly differences: Part[] = []
  readonly nonNull = new Set<CollectedVariable>()

  constructor(isValue: boolean) {
    this.isValue = isValue
  }

  /** Merges another part of the same position into this part. */
  merge(other: Part): void {
    if (other.isAny) this.isAny = true
    if (other.isNever) this.isNever = true
    if (other.isPoisoned) this.isPoisoned = true
    for (const each of other.variables) this.variables.add(each)
    this.overloads.push(...other.overloads)
    for (const [key, value] of other.literals) this.literals.set(key, value)
    for (const each of other.names) this.names.add(each)
    for (const [name, args] of other.constructed) mergeLists(this.constructed, name, args)
    for (const [key, each] of other.functions) this.#mergeFunction(key, each)
    this.accesses.push(...other.accesses)
    this.projections.push(...other.projections)
    if (other.record !== undefined) this.#mergeRecord(other.record)
    if (other.open !== undefined) {
      this.open ??= new Map()
      for (const [name, part] of other.open) mergeInto(this.open, name, part)
    }
    for (const [length, elements] of other.tuples) mergeLists(this.tuples, length, elements)
    this.differences.push(...other.differences)
    for (const each of other.nonNull) this.nonNull.add(each)
  }

  #mergeFunction(key: string, other: FunctionPart): void {
    const own = this.functions.get(key)
    if (own === undefined) {
      this.functions.set(key, other)
      return
    }
    for (const [index, parameter] of own.parameters.entries())
      parameter.merge(other.parameters[index] as Part)
    if (own.rest !== undefined && other.rest !== undefined) own.rest.merge(other.rest)
    own.result.merge(other.result)
  }

  #mergeRecord(other: RecordPart): void {
    const own = this.record
    if (own === undefined) {
      this.record = other
      return
    }
    const { wildcard } = own
    const names = new Set([...own.fields.keys(), ...other.fields.keys()])
    for (const name of names) {
      const left = own.fields.get(name)
      const right = other.fields.get(name)
      if (left !== undefined && right !== undefined) left.merge(right)
      else if (this.isValue) {
        const mine = left ?? (wildcard && copyOf(wildcard))
        const theirs = right ?? (other.wildcard && copyOf(other.wildcard))
        if (mine === undefined || theirs === undefined) own.fields.delete(name)
        else {
          mine.merge(theirs)
          own.fields.set(name, mine)
        }
      } else if (right !== undefined) own.fields.set(name, right)
    }
    if (wildcard !== undefined && other.wildcard !== undefined) wildcard.merge(other.wildcard)
    else own.wildcard = this.isValue ? undefined : (wildcard ?? other.wildcard)
  }

  *children(): Iterable<Part> {
    for (const members of this.overloads) yield* members
    for (const args of this.constructed.values()) yield* args
    for (const { parameters, rest, result } of this.functions.values()) {
      yield* parameters
      if (rest !== undefined) yield rest
      yield result
    }
    for (const { args, result } of this.accesses) {
      yield* args
      yield result
    }
    for (const { lambda, result } of this.projections) {
      yield lambda
      yield result
    }
    if (this.record !== undefined) {
      yield* this.record.fields.values()
      if (this.record.wildcard !== undefined) yield this.record.wildcard
    }
    if (this.open !== undefined) yield* this.open.values()
    for (const elements of this.tuples.values()) yield* elements
  }

  /** Drops literals and names that other contents include. */
  tidy(): void {
    if (!this.isValue) {
      if (this.literals.size > 0) this.names.clear()
      return
    }
    if (this.literals.has('boolean true') && this.literals.has('boolean false')) this.names.add('Boolean')
    for (const [key, value] of this.literals) {
      if ([...this.names].some(name => literalHasType(value, name))) this.literals.delete(key)
    }
  }
}

function copyOf(part: Part): Part {
  const copy = new Part(part.isValue)
  copy.merge(part)
  return copy
}

function mergeInto(parts: Map<string, Part>, name: string, part: Part): void {
  const own = parts.get(name)
  if (own === undefined) parts.set(name, part)
  else own.merge(part)
}

function mergeLists<K>(lists: Map<K, Part[]>, key: K, parts: Part[]): void {
  const own = lists.get(key)
  if (own === undefined) lists.set(key, parts)
  else for (const [index, part] of own.entries()) part.merge(parts[index] as Part)
}

export interface Collection {
  readonly root: Part
  readonly recursions: Map<CollectedVariable, Part>
}

/** Removes null from a concrete value. Undefined if nothing is left. */
type WithoutNull = (value: Type) => Type | undefined

/** Collects the union of a value's lower bounds, or the intersection of a use's upper bounds, through all variables. */
export function collect(term: Use, isValue: boolean, withoutNull: WithoutNull): Collection {
  const collector = new Collector(withoutNull)
  const root = collector.part(term, isValue)
  return { root, recursions: collector.recursions }
}

class Collector {
  readonly recursions = new Map<CollectedVariable, Part>()
  readonly #withoutNull: WithoutNull
  readonly #open = new Set<string>()
  readonly #recursive = new Map<string, CollectedVariable>()

  constructor(withoutNull: WithoutNull) {
    this.#withoutNull = withoutNull
  }

  part(term: Use, isValue: boolean): Part {
    const part = this.#of(term, isValue, new Set())
    mergeDifferences(part)
    return part
  }

  /** `around`: the variables of the same position that are being collected. */
  #of(term: Use, isValue: boolean, around: ReadonlySet<Variable>): Part {
    enter()
    const part = this.#collected(term, isValue, around)
    leave()
    return part
  }

  #collected(term: Use, isValue: boolean, around: ReadonlySet<Variable>): Part {
    const part = new Part(isValue)
    switch (term.kind) {
      case 'any':
        part.isAny = true
        break
      case 'never':
        part.isNever = !isValue
        break
      case 'literal': {
        const value = readValue(term)
        part.literals.set(`${typeof value} ${value}`, value)
        break
      }
      case 'generic':
        part.names.add(term.name)
        break
      case 'named':
        this.#named(part, term)
        break
      case 'function':
        this.#function(part, term)
        break
      case 'record':
        part.record = this.#record(term, isValue)
        break
      case 'tuple':
        part.tuples.set(
          term.elements.length,
          term.elements.map(each => this.part(each, isValue)),
        )
        break
      case 'union':
      case 'intersection':
        if ((term.kind === 'union') === isValue) {
          for (const each of term.members) part.merge(this.#of(each, isValue, around))
        } else part.overloads.push(term.members.map(each => this.part(each, isValue)))
        break
      case 'difference':
        part.differences.push(this.#nonNull(term.of))
        break
      case 'variable':
        return this.#variable(term, isValue, around)
      default:
        this.#use(part, term, around)
    }
    return part
  }

  #named(part: Part, { name, args }: NamedType): void {
    if (args.length === 0) part.names.add(name)
    else
      part.constructed.set(
        name,
        args.map(each => this.part(each, part.isValue)),
      )
  }

  #function(part: Part, { parameters, rest, result }: FunctionType): void {
    part.functions.set(`${parameters.length} ${rest !== undefined}`, {
      names: parameters.map(({ name }) => name),
      parameters: parameters.map(({ type }) => this.part(type, !part.isValue)),
      restName: rest?.name,
      // The type of a rest parameter is collected as if it was a result.
      rest: rest && this.#rest(rest.type, part.isValue),
      result: this.part(result, part.isValue),
    })
  }

  #rest(type: Type, isValue: boolean): Part {
    const collected = this.part(type, isValue)
    const shown = new Part(!isValue)
    shown.merge(collected)
    return shown
  }

  #record({ fields, wildcard }: RecordType, isValue: boolean): RecordPart {
    return {
      fields: new Map([...fields].map(([name, type]) => [name, this.part(type, isValue)])),
      wildcard: wildcard && this.part(wildcard, isValue),
    }
  }

  #use(part: Part, use: Exclude<Use, Type> | (Type & { kind: 'open' }), around: ReadonlySet<Variable>): void {
    const { isValue } = part
    switch (use.kind) {
      case 'open':
        part.open = new Map([[use.field, this.part(use.type, isValue)]])
        break
      case 'select':
        part.open = new Map([[use.field, this.part(use.result, isValue)]])
        break
      case 'call':
        part.functions.set(`${use.args.length} false`, {
          names: use.args.map(() => undefined),
          parameters: use.args.map(each => this.part(each, !isValue)),
          restName: undefined,
          rest: undefined,
          result: this.part(use.result, isValue),
        })
        break
      case 'access':
        part.accesses.push({
          args: use.args.map(each => this.part(each, !isValue)),
          result: this.part(use.result, isValue),
        })
        break
      case 'project':
        part.projections.push({
          lambda: this.part(use.lambda, !isValue),
          result: this.part(use.result, isValue),
        })
        break
      case 'guard':
        part.merge(this.#of(use.use, isValue, around))
        break
    }
  }

  #variable(variable: Variable, isValue: boolean, around: ReadonlySet<Variable>): Part {
    const key = `${variable.id} ${isValue}`
    const part = new Part(isValue)
    if (this.#open.has(key)) {
      if (!around.has(variable)) part.variables.add(this.#recursion(key))
      return part
    }
    this.#open.add(key)
    part.variables.add(variable)
    if (variable.isPoisoned) part.isPoisoned = true
    const inner = new Set([...around, variable])
    const bounds: readonly Bound<Use>[] = isValue ? shownLower(variable) : variable.upper
    for (const { type, of } of bounds) if (!of.isDead) part.merge(this.#of(type, isValue, inner))
    this.#open.delete(key)
    const recursion = this.#recursive.get(key)
    if (recursion === undefined) return part
    mergeDifferences(part)
    this.recursions.set(recursion, part)
    const reference = new Part(isValue)
    reference.variables.add(recursion)
    return reference
  }

  #recursion(key: string): CollectedVariable {
    return upsert(this.#recursive, key, () => ({ kind: 'recursion', id: key }))
  }

  /** A value without its nulls: the variables, and the concrete values. */
  #nonNull(of: Type): Part {
    const part = new Part(true)
    const seen = new Set<Variable>()
    const add = (type: Type): void => {
      if (type instanceof Variable) {
        if (seen.has(type)) return
        seen.add(type)
        part.nonNull.add(type)
        for (const { type: each, of: alternative } of shownLower(type)) if (!alternative.isDead) add(each)
      } else if (type.kind === 'union') type.members.forEach(add)
      else if (type.kind === 'difference') add(type.of)
      else {
        const rest = this.#withoutNull(type)
        if (rest !== undefined) part.merge(this.#of(rest, true, seen))
      }
    }
    add(of)
    return part
  }
}

/** The lower bounds in the order in which they are printed: the newest first, then the initial bounds. */
function shownLower({ lower, initialCount }: Variable): readonly Bound<Type>[] {
  const count = Math.min(initialCount, lower.length)
  return [...lower.slice(count).reverse(), ...lower.slice(0, count)]
}

/** Adds the values without their nulls after all others. */
function mergeDifferences(part: Part): void {
  while (part.differences.length > 0) part.merge(part.differences.shift() as Part)
}
