// Prints expressions, types, strings, paths and numbers in a canonical layout for schema files. Parentheses are nodes
// of the syntax tree, so the printed text has the same parentheses as the source.

import { unreachable } from '../../../base/assert.ts'
import type { Path } from '../../../model/schema/paths.ts'
import {
  type BlockNode,
  isShortLambda,
  type LambdaNode,
  type Link,
  type Node,
  type ProjectedField,
  type ProjectionNode,
  shortParameter,
  type TypeNode,
} from '../../syntax/nodes.ts'
import { isDisplayed } from '../../syntax/reader.ts'
import { escapes } from '../../text/quoted.ts'
import { isPlainName } from '../field-names.ts'

/** Indents all lines but the first. Printed string literals contain no newlines, so they do not change. */
export function indentLines(text: string): string {
  return text.replaceAll('\n', '\n  ')
}

export function inBraces(lines: readonly string[]): string {
  return `{${lines.map(line => indentLines(`\n${line}`)).join('')}\n}`
}

export class ExpressionPrinter {
  readonly #text: string

  /** The nodes were parsed from `text`. */
  constructor(text: string) {
    this.#text = text
  }

  expression(node: Node): string {
    switch (node.kind) {
      case 'literal':
        return this.#literal(node)
      case 'placeholder':
      case 'match':
        return this.#text.slice(node.start, node.end)
      case 'name':
        return node.name === shortParameter ? '' : node.name
      case 'template':
        return this.#template(node.parts)
      case 'array': {
        const isTuple = this.#text[node.start] === '('
        const elements = this.#list(node.elements)
        return isTuple ? `(${elements})` : `[${elements}]`
      }
      case 'group':
        return `(${this.expression(node.inner)})`
      case 'object': {
        const last = node.fields.length - 1
        const line = ([key, value]: readonly [string, Node], index: number) =>
          `${printKey(key)}: ${this.expression(value)}${index === last ? '' : ','}`
        return inBraces(node.fields.map(line))
      }
      case 'block':
        return this.block(node)
      case 'lambda':
        return this.lambda(node)
      case 'if': {
        const otherwise = node.otherwise === undefined ? '' : ` else ${this.expression(node.otherwise)}`
        return `if (${this.expression(node.condition)}) ${this.expression(node.then)}${otherwise}`
      }
      case 'at':
        return `at (${this.expression(node.time)}) ${this.expression(node.body)}`
      case 'unary':
        return `${node.operator}${this.expression(node.operand)}`
      case 'binary':
        return `${this.expression(node.left)} ${node.operator} ${this.expression(node.right)}`
      case 'chain':
        return this.#chain(node.operand, node.links)
      case 'projection':
        return `${this.expression(node.operand)} ${this.#fields(node)}`
      default:
        return unreachable(node)
    }
  }

  block({ statements }: BlockNode): string {
    return inBraces(
      statements.map(each => {
        if (each.kind !== 'let') return this.expression(each)
        const type = each.type === undefined ? '' : `: ${this.type(each.type)}`
        return `let ${each.name}${type} = ${this.expression(each.value)}`
      }),
    )
  }

  /** Omits the parentheses and the parameter of a short lambda such as `.a`. */
  lambda(node: LambdaNode): string {
    if (isShortLambda(node)) return this.expression(node.body)
    const rest = node.rest === undefined ? [] : [`...${node.rest}`]
    return `(${[...node.parameters, ...rest].join(', ')}) => ${this.expression(node.body)}`
  }

  /** A field without a colon, such as `a` or `a { b }`, is printed without a colon. */
  #projected({ isBare, name, value }: ProjectedField): string {
    if (!isBare) return `${name}: ${this.expression(value)}`
    return value.kind === 'projection' ? `${name} ${this.#fields(value)}` : name
  }

  #fields({ fields }: ProjectionNode): string {
    return inBraces(fields?.map(each => `${this.#projected(each)},`) ?? ['*'])
  }

  #list(nodes: readonly Node[]): string {
    return nodes.map(each => this.expression(each)).join(', ')
  }

  #literal({ end, start, value }: Extract<Node, { kind: 'literal' }>): string {
    if (typeof value === 'string') return printString(value)
    return typeof value === 'number' ? printDecimal(this.#text.slice(start, end)) : `${value}`
  }

  #template(parts: readonly (string | Node)[]): string {
    const printed = parts.map(part =>
      typeof part === 'string' ? escapeText(part) : `#{${this.expression(part)}}`,
    )
    return `"${printed.join('')}"`
  }

  #chain(operand: Node, links: readonly Link[]): string {
    const isShort = operand.kind === 'name' && operand.name === shortParameter
    const printed = links.map((link, index) => this.#link(link, isShort && index === 0))
    return this.expression(operand) + printed.join('')
  }

  /** `leads` is true for the first link of a short lambda. If this link is a bracket, a dot precedes the bracket. */
  #link(link: Link, leads: boolean): string {
    switch (link.kind) {
      case 'field':
        return `${link.optional ? '?.' : '.'}${link.name}`
      case 'method': {
        const call = link.optionalCall ? '?.(' : '('
        return `${link.optional ? '?.' : '.'}${link.name}${call}${this.#list(link.arguments)})`
      }
      case 'call':
      case 'access': {
        const [open, close] = link.kind === 'call' ? ['(', ')'] : ['[', ']']
        return `${link.optional ? '?.' : leads ? '.' : ''}${open}${this.#list(link.arguments)}${close}`
      }
      case 'assert':
        return '!'
    }
  }

  /** `within` is the precedence of the enclosing operator. */
  type(type: TypeNode, within = 0): string {
    switch (type.kind) {
      case 'name': {
        const given = type.arguments.map(each => this.type(each)).join(', ')
        return given === '' ? type.name : `${type.name}<${given}>`
      }
      case 'literal':
        if (typeof type.value === 'string') return printString(type.value)
        return typeof type.value === 'number' ? printDecimal(type.written ?? '') : `${type.value}`
      case 'tuple':
        return `[${type.elements.map(each => this.type(each)).join(', ')}]`
      case 'object':
        return this.#objectType(type)
      case 'optional':
        return `${this.type(type.inner, 3)}?`
      case 'union':
        return parenthesize(type.members.map(each => this.type(each, 2)).join(' | '), within > 1)
      case 'intersection':
        return parenthesize(type.members.map(each => this.type(each, 3)).join(' & '), within > 2)
      case 'function': {
        const parameters = type.parameters.map(({ isRest, name, type: each }) => {
          const label = name === undefined ? '' : `${name}: `
          return `${label}${isRest ? '...' : ''}${this.type(each)}`
        })
        const [only, ...others] = type.parameters
        const isBare = only !== undefined && others.length === 0 && only.name === undefined && !only.isRest
        const given = isBare ? this.type(only.type, 1) : `(${parameters.join(', ')})`
        return parenthesize(`${given} => ${this.type(type.result)}`, within > 0)
      }
    }
  }

  #objectType({ isOpen, members, wildcard }: Extract<TypeNode, { kind: 'object' }>): string {
    const printed = members.map(({ defaultValue, name, type }) => {
      const value = defaultValue === undefined ? '' : ` = ${this.expression(defaultValue)}`
      return `${printKey(name)}: ${this.type(type)}${value}`
    })
    if (wildcard !== undefined) printed.push(`*: ${this.type(wildcard)}`)
    if (isOpen) printed.push('...')
    return printed.length === 0 ? '{}' : `{ ${printed.join(', ')} }`
  }
}

function parenthesize(text: string, needed: boolean): string {
  return needed ? `(${text})` : text
}

/** Prints an object key, in quotes if necessary. Keywords need no quotes. */
function printKey(key: string): string {
  return /^[a-zA-Z_][a-zA-Z0-9_']*$/.test(key) ? key : printString(key)
}

/** Prints the name of an item, in quotes if necessary. */
export function printName(name: string): string {
  return isPlainName(name) ? name : printString(name)
}

/** The characters that need no escape in a text in double quotes. */
const unescaped: ReadonlySet<string> = new Set(["'", '`'])

/** The content of a text in double quotes. */
function escapeText(text: string): string {
  let printed = ''
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const character = text[at] as string
    const known = unescaped.has(character) ? character : escapes[character]
    printed += known ?? (isDisplayed(unit) ? character : `\\u${unit.toString(16).padStart(4, '0')}`)
  }
  return printed
}

export function printString(text: string): string {
  return `"${escapeText(text)}"`
}

/** Prints a path, which begins with a dot: `.a.b[0]["x y"]`. */
export function printPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(step)) return `.${step}`
      const inside = typeof step === 'string' ? printString(step) : `${step}`
      return `${index === 0 ? '.' : ''}[${inside}]`
    })
    .join('')
}

/** A decimal number with all its digits, in the notation of Java's `BigDecimal.toString`. */
function printDecimal(written: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^([+-]?)\s*([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?$/.exec(written.replaceAll('_', '')) ?? []
  const minus = sign === '-' ? '-' : ''
  const digits = (integer + fraction).replace(/^0+(?=[0-9])/, '')
  const scale = fraction.length - Number(exponent)
  const adjusted = digits.length - 1 - scale
  if (scale >= 0 && adjusted >= -6) {
    if (scale === 0) return minus + digits
    const padded = digits.padStart(scale + 1, '0')
    return `${minus}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
  }
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : ''
  const power = adjusted === 0 ? '' : `E${adjusted > 0 ? '+' : ''}${adjusted}`
  return `${minus}${digits[0]}${rest}${power}`
}
