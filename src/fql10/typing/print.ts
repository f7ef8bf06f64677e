// Prints types, for messages, summaries and the environment endpoint.

import { literalText, memberName } from '../../model/schema/field-types.ts'
import type { Scheme } from './environment.ts'
import { type CollectedVariable, type Collection, collect, type FunctionPart, type Part } from './parts.ts'
import { simplify } from './simplify.ts'
import type { Type, Use } from './terms.ts'

/** A form is in parentheses where a higher precedence is required. */
const precedence = {
  none: 0,
  function: 10,
  parameter: 11,
  difference: 15,
  union: 20,
  intersection: 30,
  recursion: 40,
  operand: 50,
} as const

interface PrintOptions {
  readonly withoutNull: (value: Type) => Type | undefined
  /** True for names of existing types. Type parameters get other names. */
  readonly isTaken: (name: string) => boolean
}

/** Forms that decide how a type is used. `Number`: the named type. */
type PrintedForm = 'Number' | 'projection' | 'recursion' | 'difference'

export interface PrintedType {
  readonly text: string
  readonly parameters: readonly string[]
  /** True for a function, or an overload. */
  readonly isFunction: boolean
  /** The forms that the text contains. A search of the text would also find them in literals and keys. */
  readonly forms: ReadonlySet<PrintedForm>
}

/** Simplifies the type first, so that variables which occur only as a value or only as a use disappear. */
export function printType(term: Use, isValue: boolean, options: PrintOptions): PrintedType {
  const collection = collect(term, isValue, options.withoutNull)
  simplify(collection)
  const printer = new Printer(collection, options)
  const text = printer.part(collection.root, precedence.none)
  const { forms, parameters } = printer
  return { text, parameters, isFunction: isFunction(collection.root), forms }
}

/**
 * Returns the declared text, or prints the type without one. A text with a rest parameter in parentheses is printed
 * again, because the printer treats the type of a rest parameter like the type of a result.
 */
export function schemeText({ parameters, text, type }: Scheme): string {
  if (text !== '' && !text.includes('...(')) return text
  const printed = printType(type, true, { withoutNull: value => value, isTaken: () => false }).text
  return parameters.length === 0 ? printed : `<${parameters.join(', ')}> ${printed}`
}

function isFunction(part: Part): boolean {
  const { overloads, functions } = part
  const isOnly =
    !part.isAny &&
    part.variables.size + part.literals.size + part.names.size + part.constructed.size === 0 &&
    part.record === undefined &&
    part.open === undefined &&
    part.tuples.size + part.nonNull.size + part.accesses.length + part.projections.length === 0
  if (!isOnly || functions.size + overloads.length !== 1) return false
  return overloads.every(members => members.every(isFunction))
}

class Printer {
  readonly #collection: Collection
  readonly #options: PrintOptions
  readonly #names = new Map<CollectedVariable, string>()
  readonly #open = new Set<CollectedVariable>()
  readonly forms = new Set<PrintedForm>()
  #last = 0

  constructor(collection: Collection, options: PrintOptions) {
    this.#collection = collection
    this.#options = options
  }

  get parameters(): readonly string[] {
    return [...this.#names.values()]
  }

  part(part: Part, around: number): string {
    const items: ((around: number) => string)[] = []
    let hasNull = false
    for (const each of part.variables) items.push(within => this.#variable(each, within))
    for (const members of part.overloads) items.push(within => this.#overload(members, part.isValue, within))
    for (const each of part.literals.values()) items.push(() => literalText(each))
    for (const each of part.names) {
      if (each === 'Null') hasNull = true
      else items.push(() => this.#name(each))
    }
    for (const [name, args] of part.constructed) {
      items.push(() => `${name}<${args.map(each => this.part(each, precedence.none)).join(', ')}>`)
    }
    for (const each of part.functions.values()) items.push(within => this.#function(each, within))
    for (const { args, result } of part.accesses) {
      items.push(within => {
        const text = `[${this.#list(args)}] => ${this.part(result, precedence.function)}`
        return parenthesize(text, precedence.function, within)
      })
    }
    for (const { lambda, result } of part.projections) {
      items.push(within => {
        this.forms.add('projection')
        const text = `.{ ${this.part(lambda, precedence.none)} } => ${this.part(result, precedence.function)}`
        return parenthesize(text, precedence.parameter, within)
      })
    }
    if (part.record !== undefined) {
      const { fields, wildcard } = part.record
      const last = wildcard && (() => `*: ${this.part(wildcard, precedence.none)}`)
      items.push(() => this.#record(fields, last))
    }
    if (part.open !== undefined) {
      const { open } = part
      items.push(() => this.#record(open, () => '...'))
    }
    for (const elements of part.tuples.values()) items.push(() => `[${this.#list(elements)}]`)
    for (const each of part.nonNull) {
      items.push(within => {
        this.forms.add('difference')
        const text = `${this.#variable(each, precedence.operand)} - Null`
        return parenthesize(text, precedence.difference, within)
      })
    }
    if (hasNull) items.push(() => 'Null')
    if (part.isNever) return 'Never'
    if (part.isPoisoned && items.length === 0) return part.isValue ? '_' : 'Any'
    if (part.isAny && (part.isValue || items.length === 0)) items.unshift(() => 'Any')
    return this.#joined(items, part, around)
  }

  #joined(items: readonly ((around: number) => string)[], part: Part, around: number): string {
    const [only] = items
    if (only === undefined) return part.isValue ? 'Never' : 'Any'
    if (items.length === 1) return only(around)
    const own = part.isValue ? precedence.union : precedence.intersection
    const texts = [...new Set(items.map(each => each(own)))]
    if (texts.length === 1) return only(around)
    return parenthesize(texts.join(part.isValue ? ' | ' : ' & '), own, around)
  }

  #overload(members: readonly Part[], isValue: boolean, around: number): string {
    const own = isValue ? precedence.intersection : precedence.union
    const texts = [...new Set(members.map(each => this.part(each, own)))]
    if (!isValue && texts.includes('Null')) {
      texts.splice(texts.indexOf('Null'), 1)
      texts.push('Null')
    }
    if (texts.length === 1) return this.part(members[0] as Part, around)
    return parenthesize(texts.join(isValue ? ' & ' : ' | '), own, around)
  }

  #list(parts: readonly Part[]): string {
    return parts.map(each => this.part(each, precedence.none)).join(', ')
  }

  #record(fields: ReadonlyMap<string, Part>, last: (() => string) | undefined): string {
    const texts = [...fields].map(
      ([name, part]) => `${memberName(name)}: ${this.part(part, precedence.none)}`,
    )
    if (last !== undefined) texts.push(last())
    return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`
  }

  #function({ names, parameters, rest, restName, result }: FunctionPart, around: number): string {
    const isSingle = parameters.length + (rest === undefined ? 0 : 1) === 1
    const within = isSingle && rest === undefined ? precedence.parameter : precedence.function
    const texts = parameters.map((each, index) => {
      const name = names[index]
      const text = this.part(each, within)
      return name === undefined ? text : `${name}: ${text}`
    })
    if (rest !== undefined) {
      const text = `...${this.part(rest, precedence.function)}`
      texts.push(restName === undefined ? text : `${restName}: ${text}`)
    }
    const isBare = isSingle && rest === undefined && names[0] === undefined
    const given = isBare ? texts[0] : `(${texts.join(', ')})`
    const text = `${given} => ${this.part(result, precedence.function)}`
    return parenthesize(text, precedence.function, around)
  }

  #name(name: string): string {
    if (name === 'Number') this.forms.add(name)
    return name
  }

  #variable(variable: CollectedVariable, around: number): string {
    const body = this.#collection.recursions.get(variable)
    if (body === undefined || this.#open.has(variable)) return this.#nameOf(variable)
    this.#open.add(variable)
    this.forms.add('recursion')
    const inner = this.part(body, precedence.operand)
    return parenthesize(`${inner} as ${this.#nameOf(variable)}`, precedence.recursion, around)
  }

  #nameOf(variable: CollectedVariable): string {
    let text = this.#names.get(variable)
    if (text === undefined) {
      do text = letters(this.#last++)
      while (this.#options.isTaken(text))
      this.#names.set(variable, text)
    }
    return text
  }
}

function parenthesize(text: string, own: number, around: number): string {
  return around > own ? `(${text})` : text
}

/** A … Z, AA, AB, … */
function letters(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : `${letters(Math.floor(index / 26) - 1)}${letter}`
}
