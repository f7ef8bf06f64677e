// Converts the syntax tree of a JavaScript expression to wire JSON (the JSON of requests), with the position of each
// part. Syntax that is not part of the language causes an error with a position.

import type {
  ArrowFunctionExpression,
  CallExpression,
  Expression,
  Literal,
  Node,
  ObjectExpression,
  SpreadElement,
  Super,
} from 'acorn'
import { closestTo } from '../../base/closest.ts'
import type { Json } from '../../values/value.ts'
import { FqlSyntaxError, SourceNode, type TextRange } from './source.ts'
import { arityOf, dottedName, keyOf, readNumber, unsupportedNodeText } from './syntax.ts'
import {
  fqlFunctions,
  functionNames,
  type Parameter,
  type WireFunction,
  wireFunctions,
} from './text-functions.ts'

/** A part of a query as wire JSON, with its position in the text. */
interface QueryPart {
  readonly json: Json
  readonly source: SourceNode
}

type Argument = Expression | SpreadElement

/** The qualifiers before the names of the driver's functions, such as `q` in `q.Get(…)`. */
const prefixes: ReadonlySet<string> = new Set(['q', 'query', 'faunadb.query', 'fauna.query'])

export class ExpressionReader {
  readonly #text: string
  /** The offset of the syntax tree within the text. */
  readonly #offset: number
  /** The parameters of the enclosing arrow functions, innermost last. `json` replaces each use of the parameter. */
  readonly #variables: { readonly name: string; readonly json: Json }[] = []
  /** The constants of the module that contains the expression. */
  readonly #constants: Map<string, Expression>

  constructor(text: string, offset: number, constants: ReadonlyMap<string, Expression> = new Map()) {
    this.#text = text
    this.#offset = offset
    this.#constants = new Map(constants)
  }

  /** Throws {@link FqlSyntaxError}. */
  read(node: Argument | Super): QueryPart {
    switch (node.type) {
      case 'Literal':
        return this.#literal(node)
      case 'TemplateLiteral': {
        const [quasi] = node.quasis
        if (node.expressions.length > 0 || quasi?.value.cooked == null) {
          throw this.#fault('a template string cannot contain expressions', node)
        }
        return this.#leaf(quasi.value.cooked, node)
      }
      case 'UnaryExpression':
        return this.#unary(node.operator, node.argument, node)
      case 'ArrayExpression':
        return this.#array(node.elements, node)
      case 'ObjectExpression':
        return this.#object(node)
      case 'ArrowFunctionExpression':
        return this.#lambda(node)
      case 'Identifier':
        return this.#name(node.name, node)
      case 'CallExpression':
        return this.#call(node)
      default:
        throw this.#fault(unsupportedNodeText(node), node)
    }
  }

  // -------------------------------------------------------------------------------------------- positions

  #range({ start, end }: TextRange): TextRange {
    return { start: start + this.#offset, end: end + this.#offset }
  }

  #fault(message: string, node: TextRange): FqlSyntaxError {
    return new FqlSyntaxError(message, this.#text, this.#range(node))
  }

  #leaf(json: Json, node: TextRange): QueryPart {
    return { json, source: new SourceNode(this.#range(node)) }
  }

  // --------------------------------------------------------------------------------------------- literals

  #literal(node: Literal): QueryPart {
    const { value } = node
    if (node.regex) throw this.#fault('a regular expression is written as a string', node)
    if (typeof value === 'number' || typeof value === 'bigint')
      return this.#leaf(this.#number(node, false), node)
    if (value === null || typeof value === 'string' || typeof value === 'boolean')
      return this.#leaf(value, node)
    throw this.#fault('this literal is not part of the language', node)
  }

  #unary(operator: string, operand: Expression, node: TextRange & Node): QueryPart {
    const isNumber =
      operand.type === 'Literal' && (typeof operand.value === 'number' || typeof operand.value === 'bigint')
    if (operator !== '-' || !isNumber) throw this.#fault(unsupportedNodeText(node), node)
    return this.#leaf(this.#number(operand, true), node)
  }

  #number(node: Literal, isNegative: boolean): bigint | number {
    const number = readNumber(node.raw ?? '', isNegative)
    if (typeof number === 'string') throw this.#fault(number, node)
    return number
  }

  #array(elements: readonly (Argument | null)[], node: TextRange): QueryPart {
    const items: Json[] = []
    const parts = new Map<number, SourceNode>()
    for (const [index, element] of elements.entries()) {
      if (element === null) throw this.#fault('an element of the array is missing', node)
      const { json, source } = this.read(element)
      items.push(json)
      parts.set(index, source)
    }
    return { json: items, source: new SourceNode(this.#range(node), parts) }
  }

  /** The values of the fields are expressions. */
  #object(node: ObjectExpression): QueryPart {
    const { fields, source } = this.#fields(node)
    const isTag = fields.size === 1 && [...fields.keys()].every(name => name.startsWith('@'))
    // Without `@obj`, a single key that starts with @ would be parsed as a tag.
    const json: Json = isTag ? new Map([['@obj', fields]]) : fields
    return this.#formOf(node, [['object', { json, source }]])
  }

  #fields(node: ObjectExpression): { readonly fields: Map<string, Json>; readonly source: SourceNode } {
    const fields = new Map<string, Json>()
    const parts = new Map<string, SourceNode>()
    for (const property of node.properties) {
      if (property.type !== 'Property') throw this.#fault(unsupportedNodeText(property), property)
      const name = keyOf(property)
      if (name === undefined) throw this.#fault('a field is written name: value', property)
      if (fields.has(name)) throw this.#fault(`the key "${name}" occurs twice`, property.key)
      const { json, source } = this.read(property.value)
      fields.set(name, json)
      parts.set(name, source)
    }
    return { fields, source: new SourceNode(this.#range(node), parts) }
  }

  #literalObject(node: Argument, name: string): ObjectExpression {
    if (node.type !== 'ObjectExpression')
      throw this.#fault(`${name} takes an object here: {name: value}`, node)
    return node
  }

  // -------------------------------------------------------------------------------------- variables, lambdas

  #variable(name: string): Json | undefined {
    return this.#variables.findLast(each => each.name === name)?.json
  }

  #name(name: string, node: TextRange): QueryPart {
    const json = this.#variable(name)
    if (json !== undefined) return this.#leaf(json, node)
    const constant = this.#constants.get(name)
    if (constant === undefined) throw this.#fault(this.#unknown(name), node)
    // Prevents endless recursion for a constant that refers to itself.
    this.#constants.delete(name)
    const part = this.read(constant)
    this.#constants.set(name, constant)
    return part
  }

  #unknown(name: string): string {
    const own = fqlFunctions.find(each => each.name === name)
    if (own) return `${name} is a function: write ${own.signature}`
    const closest = closestTo(name, functionNames)
    if (closest !== undefined) return `unknown name "${name}"; did you mean ${closest}?`
    return `unknown name "${name}"; a variable is written Var("${name}"), a string has quotes`
  }

  #parametersOf(node: ArrowFunctionExpression): readonly string[] {
    if (node.async) throw this.#fault('a function cannot be async', node)
    return node.params.map(parameter => {
      if (parameter.type !== 'Identifier') throw this.#fault('a parameter is a name', parameter)
      return parameter.name
    })
  }

  #lambda(node: ArrowFunctionExpression): QueryPart {
    const names = this.#parametersOf(node)
    const [first] = names
    if (first === undefined) throw this.#fault('a function has at least one parameter', node)
    const lambda = names.length === 1 ? first : names
    const body = this.#body(
      node,
      names.map(name => ({ name, json: new Map([['var', name]]) })),
    )
    const range = { start: node.params[0]?.start ?? 0, end: node.params.at(-1)?.end ?? 0 }
    return this.#formOf(node, [
      ['lambda', this.#leaf(lambda, range)],
      ['expr', body],
    ])
  }

  /** `variables` contains the parameters of the function, with the queries that replace the parameters. */
  #body(node: ArrowFunctionExpression, variables: readonly { name: string; json: Json }[]): QueryPart {
    this.#variables.push(...variables)
    try {
      return this.read(this.#returned(node))
    } finally {
      this.#variables.length -= variables.length
    }
  }

  #returned({ body }: ArrowFunctionExpression): Expression {
    if (body.type !== 'BlockStatement') return body
    const [statement, ...others] = body.body
    if (statement?.type === 'ReturnStatement' && statement.argument && others.length === 0)
      return statement.argument
    throw this.#fault('the body of a function is an expression, or { return expression }', body)
  }

  // ------------------------------------------------------------------------------------------------ calls

  #call(node: CallExpression): QueryPart {
    if (node.optional) throw this.#fault('a function is called by its name', node)
    const name = this.#calledName(node.callee)
    if (name === undefined) throw this.#fault('a function is called by its name', node.callee)
    const special = this.#special(name, node)
    if (special) return special
    const known = wireFunctions.get(name)
    if (!known) throw this.#fault(this.#unknown(name), node.callee)
    return this.#wireCall(known, node)
  }

  #calledName(callee: Expression | Super): string | undefined {
    if (callee.type === 'Identifier')
      return this.#variable(callee.name) === undefined ? callee.name : undefined
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
      return undefined
    return prefixes.has(dottedName(callee.object)) ? callee.property.name : undefined
  }

  /** Reads a call that needs separate code. Returns undefined for all other calls. */
  #special(name: string, node: CallExpression): QueryPart | undefined {
    const { arguments: given } = node
    const [first, second] = given
    switch (name) {
      case 'Let':
        this.#checkCount(node, 'Let', 2, 2)
        return this.#let(first as Argument, second as Argument, node)
      case 'Var':
        this.#checkCount(node, 'Var', 1, 1)
        return this.#form(node, [['var', first as Argument]])
      case 'Lambda':
        this.#checkCount(node, 'Lambda', 1, 2)
        if (second) {
          return this.#form(node, [
            ['lambda', first as Argument],
            ['expr', second],
          ])
        }
        return this.read(first as Argument)
      case 'Object':
        this.#checkCount(node, 'Object', 1, 1)
        return this.#object(this.#literalObject(first as Argument, 'Object'))
      case 'Bytes':
      case 'UUID':
        this.#checkCount(node, name, 1, 1)
        return this.#tagged(name === 'Bytes' ? '@bytes' : '@uuid', first as Argument, name, node)
      case 'Expr': {
        this.#checkCount(node, 'Expr', 1, 1)
        const { fields, source } = this.#fields(this.#literalObject(first as Argument, 'Expr'))
        return { json: fields, source: new SourceNode(this.#range(node), source.parts) }
      }
      case 'Ref':
        return given.length === 1 ? this.#tagged('@ref', first as Argument, 'Ref', node) : undefined
      case 'Query':
        return given.length === 2 ? this.#versionedQuery(node) : undefined
    }
    return undefined
  }

  #checkCount({ arguments: given, ...node }: CallExpression, name: string, min: number, max: number): void {
    if (given.length >= min && given.length <= max) return
    const bounds =
      max === Number.POSITIVE_INFINITY ? `at least ${min}` : min === max ? `${min}` : `${min} to ${max}`
    const noun = min === 1 && (max === 1 || max === Number.POSITIVE_INFINITY) ? 'argument' : 'arguments'
    const extra = given[max]
    const message = `${name} takes ${max === 0 ? 'no' : bounds} ${noun}, ${given.length} given`
    throw this.#fault(message, extra ? { start: extra.start, end: given.at(-1)?.end ?? extra.end } : node)
  }

  /** Creates an object of wire JSON from keys and expressions. */
  #form(node: TextRange, keys: readonly (readonly [key: string, argument: Argument])[]): QueryPart {
    return this.#formOf(
      node,
      keys.map(([key, argument]) => [key, this.read(argument)]),
    )
  }

  /** Creates an object of wire JSON from keys and converted parts. */
  #formOf(node: TextRange, members: readonly (readonly [key: string, part: QueryPart])[]): QueryPart {
    const parts = new Map(members.map(([key, { source }]) => [key, source]))
    return {
      json: new Map(members.map(([key, { json }]) => [key, json])),
      source: new SourceNode(this.#range(node), parts),
    }
  }

  #tagged(tag: string, argument: Argument, name: string, node: TextRange): QueryPart {
    const { json } = this.read(argument)
    if (typeof json !== 'string') throw this.#fault(`${name} takes a string here`, argument)
    return this.#leaf(new Map([[tag, json]]), node)
  }

  /** Reads `Query(lambda, "3")`: a lambda value with an explicit API version. */
  #versionedQuery(node: CallExpression): QueryPart {
    const [first, second] = node.arguments as [Argument, Argument]
    const { json, source } = this.read(first)
    const version = this.read(second).json
    if (!(json instanceof Map && json.has('lambda') && json.has('expr'))) {
      throw this.#fault('Query takes a Lambda', first)
    }
    if (typeof version !== 'string') throw this.#fault('the version of a Query is a string', second)
    const query = new Map<string, Json>([['api_version', version], ...json])
    return this.#formOf(node, [['@query', { json: query, source }]])
  }

  #let(bindings: Argument, body: Argument, node: TextRange): QueryPart {
    const { names, ...bound } = this.#bindings(bindings)
    const isFunction = body.type === 'ArrowFunctionExpression'
    return this.#formOf(node, [
      ['let', bound],
      ['in', isFunction ? this.#letFunction(body, names) : this.read(body)],
    ])
  }

  /** As in the driver, the first parameter refers to the first binding, and so on, whatever their names are. */
  #letFunction(node: ArrowFunctionExpression, names: readonly string[]): QueryPart {
    const parameters = this.#parametersOf(node)
    const extra = node.params[names.length]
    if (extra) throw this.#fault('there are more parameters than bindings', extra)
    return this.#body(
      node,
      parameters.map((name, index) => ({ name, json: new Map([['var', names[index] as string]]) })),
    )
  }

  /** On the wire, each binding is an object. */
  #bindings(node: Argument) {
    const objects = node.type === 'ArrayExpression' ? node.elements : [node]
    const names: string[] = []
    const bindings: Json[] = []
    const parts = new Map<number, SourceNode>()
    for (const object of objects) {
      const { fields, source } = this.#fields(this.#literalObject(object ?? node, 'Let'))
      for (const [name, json] of fields) {
        const part = source.parts.get(name) as SourceNode
        parts.set(bindings.length, new SourceNode(part, new Map([[name, part]])))
        names.push(name)
        bindings.push(new Map([[name, json]]))
      }
    }
    return { json: bindings, source: new SourceNode(this.#range(node), parts), names }
  }

  #wireCall({ name, wire, parameters }: WireFunction, node: CallExpression): QueryPart {
    const { arguments: given } = node
    const [min, max] = arityOf(parameters)
    this.#checkCount(node, name, min, max)
    // The wire key comes first, although its parameter can be a later one.
    const fields = new Map<string, Json>([[wire, null]])
    const parts = new Map<string, SourceNode>()
    for (const [index, parameter] of parameters.entries()) {
      const rest = given.slice(index)
      const part = this.#argument(parameter, rest, name, node)
      if (part === undefined) continue
      if (parameter.kind === 'options') {
        // Each option becomes a wire key of the call.
        for (const [key, json] of part.json as ReadonlyMap<string, Json>) fields.set(key, json)
        for (const [key, source] of part.source.parts) parts.set(key as string, source)
      } else {
        fields.set(parameter.key, part.json)
        parts.set(parameter.key, part.source)
      }
    }
    return { json: fields, source: new SourceNode(this.#range(node), parts) }
  }

  /** `rest`: the arguments from the position of the parameter on. Returns undefined for an omitted argument. */
  #argument(
    parameter: Parameter,
    rest: readonly Argument[],
    name: string,
    node: CallExpression,
  ): QueryPart | undefined {
    const [first] = rest
    switch (parameter.kind) {
      case 'always null':
        return this.#leaf(null, node)
      case 'rest':
      case 'rest as array': {
        if (first && rest.length === 1 && parameter.kind === 'rest') return this.read(first)
        const range = first ? { start: first.start, end: rest.at(-1)?.end ?? first.end } : node
        return this.#array(rest, range)
      }
      case 'null by default':
        return first ? this.read(first) : this.#leaf(null, node)
      case 'optional': {
        const part = first && this.read(first)
        return part?.json === null ? undefined : part
      }
      case 'options': {
        if (!first) return undefined
        const { fields, source } = this.#fields(this.#literalObject(first, name))
        for (const [key, range] of source.parts) this.#checkOption(parameter, key as string, name, range)
        return { json: fields, source }
      }
      default:
        return first && this.read(first)
    }
  }

  #checkOption({ options }: Parameter, key: string, name: string, range: TextRange): void {
    if (options.includes(key)) return
    const closest = closestTo(key, options)
    const hint = closest === undefined ? `: it has ${options.join(', ')}` : `; did you mean ${closest}?`
    throw new FqlSyntaxError(`${name} has no option "${key}"${hint}`, this.#text, range)
  }
}
