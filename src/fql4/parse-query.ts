// Parses wire JSON, the JSON of requests, into expressions. The parser reads no data and runs no functions, so it needs
// no transaction. A JSON object is a call if its keys are exactly the keys of a registered function. Special forms,
// such as `let` and `var`, are not registered; the parser knows them. All errors have the code `invalid expression` and
// a position.

import { step } from '../base/effort.ts'
import { msg } from '../base/message.ts'
import { type Effect, exceeds } from '../model/code-interface.ts'
import type { Json, Value } from '../values/value.ts'
import type { ArgumentType, FunctionDefinition } from './definition.ts'
import {
  type Expression,
  fault,
  type LambdaExpression,
  type Literal,
  type Operand,
  Place,
} from './expression.ts'
import { parseLiteralTag, parseReference } from './parse-tags.ts'
import { ErrorList, type QueryError } from './query-errors.ts'
import { typeName } from './values/tagged.ts'
import { BoundNames } from './variables.ts'
import { firstLambdaVersion, isApiVersion, isAtLeast } from './wire/version.ts'

/** Finds the function with exactly these wire keys in an API version. */
export interface FunctionLookup {
  find(keys: Iterable<string>, apiVersion: string): FunctionDefinition | undefined
  /** Finds the function that evaluates a set literal with these keys. */
  findSet(keys: Iterable<string>, apiVersion: string): FunctionDefinition | undefined
}

export interface ParsedQuery {
  readonly expression: Expression
  /**
   * The greatest effect of the functions that the query calls, where `pure` < `read` < `write`. User functions are not
   * considered, because their effects are known only when the query runs.
   */
  readonly effect: Effect
  /** Like `effect`, but a call of a user function counts as `write`. */
  readonly staticEffect: Effect
}

/**
 * Throws a QueryError of rank `parse`. The language defines which errors are reported: in a list or in the arguments of
 * a call, only the first error; in a `let` or a lambda, all errors. Unbound variables are reported together if the
 * query has no other error.
 */
export function parseQuery(json: Json, apiVersion: string, functions: FunctionLookup): ParsedQuery {
  const parser = new Parser(apiVersion, functions)
  const expression = parser.expression(json, Place.root)
  parser.rejectUnbound()
  const { effect, staticEffect } = parser
  return { expression, effect, staticEffect }
}

/**
 * `body` is wire JSON that contains references and other values directly, not as tags such as `@ref`. Positions are
 * relative to the lambda, so positions in the body begin with `expr`.
 */
export function parseStoredLambda(
  parameters: string | readonly string[],
  body: Value,
  apiVersion: string,
  functions: FunctionLookup,
): LambdaExpression {
  const parser = new Parser(apiVersion, functions)
  const lambda = parser.lambdaParts(parameters as Json, body as Json, Place.root, apiVersion)
  parser.rejectUnbound()
  return lambda
}

const greaterEffect = (left: Effect, right: Effect) => (exceeds(right, left) ? right : left)

const atSign = 0x40

function noForm(json: ReadonlyMap<string, unknown>, place: Place): QueryError {
  const keys = [...json.keys()].join(', ')
  return fault(msg`No form/function found, or invalid argument keys: { ${keys} }.`, place)
}

/** Throws the errors of all `parts` together, up to a limit. */
function collect(...parts: (() => void)[]): void {
  const errors = new ErrorList()
  for (const part of parts) {
    errors.collectFrom(part)
    if (errors.isFull) break
  }
  errors.throwIfAny()
}

/** A lambda that is being parsed. `firstVariable` is an index in the list of bound variables. */
interface LambdaFrame {
  readonly firstVariable: number
  effect: Effect
  readonly free: Set<string>
}

class Parser {
  readonly #functions: FunctionLookup
  #apiVersion: string
  readonly #bound = new BoundNames()
  readonly #frames: LambdaFrame[] = []
  readonly #unbound = new ErrorList()
  effect: Effect = 'pure'
  staticEffect: Effect = 'pure'

  constructor(apiVersion: string, functions: FunctionLookup) {
    this.#apiVersion = apiVersion
    this.#functions = functions
  }

  rejectUnbound(): void {
    this.#unbound.throwIfAny()
  }

  expression(json: Json, place: Place): Expression {
    // A call or variable updates the frame of each enclosing lambda.
    step(1 + this.#frames.length)
    if (Array.isArray(json)) return this.#array(json, place)
    if (json instanceof Map) return this.#form(json, place)
    return { kind: 'literal', place, value: json }
  }

  #array(json: readonly Json[], place: Place): Expression {
    const elements = json.map((element, index) => this.expression(element, place.at(index)))
    return foldArray(elements, place)
  }

  #form(json: ReadonlyMap<string, Json>, place: Place): Expression {
    if (json.size === 1) {
      const [key, content] = json.entries().next().value as [string, Json]
      switch (key) {
        case 'object':
          return this.#object(content, place)
        case 'var':
          return this.#variable(content, place)
        case 'quote':
          return this.#quoted(content, place.at('quote'))
      }
      const tagged = this.#tagged(key, content, place)
      if (tagged) return tagged
    } else if (json.size === 2 && json.has('let') && json.has('in')) {
      return this.#let(json, place)
    }
    const definition = this.#functions.find(json.keys(), this.#apiVersion)
    if (!definition) throw noForm(json, place)
    return this.#call(definition, json, place)
  }

  // ------------------------------------------------------------------------------------------ calls

  #call(definition: FunctionDefinition, json: ReadonlyMap<string, Json>, place: Place): Expression {
    this.effect = greaterEffect(this.effect, definition.effect)
    this.staticEffect = greaterEffect(this.staticEffect, definition.staticEffect)
    for (const frame of this.#frames) frame.effect = greaterEffect(frame.effect, definition.staticEffect)
    const operands = definition.keys.map(key => {
      const operand = json.get(key)
      if (operand === undefined) return undefined
      return this.#operand(definition.arguments[key] as ArgumentType<unknown>, operand, place.at(key))
    })
    return { kind: 'call', place, definition, operands }
  }

  #operand({ mode }: ArgumentType<unknown>, json: Json, place: Place): Operand {
    switch (mode) {
      case 'lambda':
        return this.#lambda(json, place)
      case 'lambda or value':
        if (json instanceof Map && json.has('lambda')) return this.#lambda(json, place)
        return this.expression(json, place)
      case 'lazy list':
        return this.#list(json, place)
      case 'lazy sequence':
        if (!Array.isArray(json)) throw fault(msg`Array expected, ${typeName(json)} provided.`, place)
        return this.#list(json, place)
      default:
        return this.expression(json, place)
    }
  }

  /** Accepts a non-empty array, or a single expression. */
  #list(json: Json, place: Place): Operand {
    if (!Array.isArray(json)) return { kind: 'list', place, elements: [this.expression(json, place)] }
    if (json.length === 0) throw fault(msg`Expression list cannot be empty.`, place)
    const elements = json.map((element, index) => this.expression(element, place.at(index)))
    return { kind: 'list', place, elements }
  }

  // ------------------------------------------------------------------------------- variables, lambdas

  #variable(json: Json, place: Place): Expression {
    if (typeof json !== 'string') throw fault(msg`String expected, ${typeName(json)} provided.`, place, 'var')
    const index = this.#bound.newest(json)
    if (index < 0 && !this.#unbound.isFull)
      this.#unbound.add(fault(msg`Variable '${json}' is not defined.`, place).errors)
    for (const frame of this.#frames) if (index < frame.firstVariable) frame.free.add(json)
    return { kind: 'variable', place, name: json }
  }

  #let(json: ReadonlyMap<string, Json>, place: Place): Expression {
    const sources = this.#letBindings(json.get('let') as Json, place.at('let'))
    const depth = this.#bound.size
    const bindings: [string, Expression][] = []
    let body: Expression | undefined
    collect(
      ...sources.map(source => () => {
        const { name, json: value, place: where } = source()
        try {
          bindings.push([name, this.expression(value, where)])
        } finally {
          // The uses of a variable with an invalid value cause no further errors.
          this.#bound.push(name)
        }
      }),
      () => {
        body = this.expression(json.get('in') as Json, place.at('in'))
      },
    )
    this.#bound.cut(depth)
    return { kind: 'let', place, bindings, body: body as Expression }
  }

  /**
   * Returns a function for each binding, which returns the binding, or throws if the binding is invalid. The caller
   * runs all functions, to collect the errors of all bindings.
   */
  #letBindings(json: Json, place: Place): (() => { name: string; json: Json; place: Place })[] {
    if (Array.isArray(json)) {
      return json.map((element, index) => () => {
        const where = place.at(index)
        if (!(element instanceof Map) || element.size !== 1) {
          throw fault(msg`Object expected, ${typeName(element)} provided.`, where)
        }
        const [name, value] = element.entries().next().value as [string, Json]
        return { name, json: value, place: where.at(name) }
      })
    }
    const fields = this.#plainFields(json, place, 'Array')
    return [...fields].map(([name, value]) => () => ({ name, json: value, place: place.at(name) }))
  }

  #lambda(json: Json, place: Place): LambdaExpression {
    if (!(json instanceof Map)) throw fault(msg`Lambda expected, ${typeName(json)} provided.`, place)
    if (json.size !== 2 || !json.has('lambda') || !json.has('expr')) throw noForm(json, place)
    // Lambdas have had versions since API version 2.12, so no lambda has an older version.
    const apiVersion = isAtLeast(this.#apiVersion, firstLambdaVersion) ? this.#apiVersion : firstLambdaVersion
    return this.lambdaParts(json.get('lambda') as Json, json.get('expr') as Json, place, apiVersion)
  }

  lambdaParts(parameters: Json, body: Json, place: Place, apiVersion: string): LambdaExpression {
    const names = typeof parameters === 'string' ? [parameters] : parameters
    const depth = this.#bound.size
    const frame: LambdaFrame = { firstVariable: depth, effect: 'pure', free: new Set() }
    this.#frames.push(frame)
    let expression: Expression | undefined
    try {
      collect(
        () => this.#bindParameters(names, place.at('lambda')),
        () => {
          expression = this.expression(body, place.at('expr'))
        },
      )
    } finally {
      this.#frames.pop()
      this.#bound.cut(depth)
    }
    return {
      kind: 'lambda',
      place,
      parameters: parameters as string | string[],
      body: expression as Expression,
      apiVersion,
      effect: frame.effect,
      freeVariables: frame.free,
    }
  }

  #bindParameters(names: Json, place: Place): void {
    if (!Array.isArray(names)) throw fault(msg`String or Array expected, ${typeName(names)} provided.`, place)
    collect(
      ...names.map((name: Json, index: number) => () => {
        if (typeof name !== 'string') {
          throw fault(msg`String expected, ${typeName(name)} provided.`, place, index)
        }
        if (name !== '_') this.#bound.push(name)
      }),
    )
  }

  // ---------------------------------------------------------------------------------- object literals

  #object(json: Json, place: Place): Expression {
    const where = place.at('object')
    const fields = this.#plainFields(json, where, 'Object')
    return foldObject(
      [...fields].map(([name, value]) => [name, this.expression(value, where.at(name))] as const),
      place,
    )
  }

  /** The fields may be wrapped in `@obj`. */
  #plainFields(json: Json, place: Place, expected: string): ReadonlyMap<string, Json> {
    if (!(json instanceof Map)) throw fault(msg`${expected} expected, ${typeName(json)} provided.`, place)
    if (json.size !== 1) return json
    const [key, content] = json.entries().next().value as [string, Json]
    if (key === '@obj') {
      if (!(content instanceof Map)) throw fault(msg`Invalid object.`, place)
      return content
    }
    const tagged = this.#tagged(key, content, place)
    if (!tagged) return json
    throw fault(msg`${expected} expected, ${taggedTypeName(tagged)} provided.`, place)
  }

  /** Tags such as `@ref` become values. All other content becomes literals. */
  #quoted(json: Json, place: Place): Expression {
    step()
    if (Array.isArray(json)) {
      const elements = json.map((element, index) => this.#quoted(element, place.at(index)))
      return foldArray(elements, place)
    }
    if (!(json instanceof Map)) return { kind: 'literal', place, value: json }
    if (json.size === 1) {
      const [key, content] = json.entries().next().value as [string, Json]
      if (key === '@obj') {
        if (!(content instanceof Map)) throw fault(msg`Invalid object.`, place)
        return this.#quotedFields(content, place.at('@obj'))
      }
      const tagged = this.#tagged(key, content, place)
      if (tagged) return tagged
    }
    return this.#quotedFields(json, place)
  }

  #quotedFields(json: ReadonlyMap<string, Json>, place: Place): Expression {
    return foldObject(
      [...json].map(([name, value]) => [name, this.#quoted(value, place.at(name))] as const),
      place,
    )
  }

  // --------------------------------------------------------------------------------------------- tags

  /** Parses an object whose only key is a tag. Returns undefined if `tag` is not a tag. */
  #tagged(tag: string, content: Json, place: Place): Expression | undefined {
    if (tag.charCodeAt(0) !== atSign) return undefined
    switch (tag) {
      case '@obj':
        if (!(content instanceof Map)) throw fault(msg`Invalid object.`, place)
        return this.expression(content, place.at('@obj'))
      case '@ref':
        return { kind: 'reference', place, target: parseReference(content, place) }
      case '@query':
        return { kind: 'query', place, lambda: this.#closedLambda(content, place) }
      case '@set':
        return this.#setLiteral(content, place)
    }
    const value = parseLiteralTag(tag, content, place)
    return value === undefined ? undefined : { kind: 'literal', place, value }
  }

  /** The lambda in `@query` or `@set` has its own API version, and cannot use variables of the query. */
  #closedLambda(json: Json, place: Place): LambdaExpression {
    const invalid = () => fault(msg`Invalid lambda.`, place)
    if (!(json instanceof Map) || json.size !== (json.has('api_version') ? 3 : 2)) throw invalid()
    const version = json.get('api_version') ?? firstLambdaVersion
    const parameters = json.get('lambda')
    const body = json.get('expr')
    if (parameters === undefined || body === undefined) throw invalid()
    if (typeof version !== 'string' || !isApiVersion(version)) throw invalid()
    const parser = new Parser(version, this.#functions)
    const lambda = parser.lambdaParts(parameters, body, place, version)
    if (!parser.#unbound.isEmpty) throw invalid()
    return lambda
  }

  #setLiteral(json: Json, place: Place): Expression {
    const definition = json instanceof Map && this.#functions.findSet(json.keys(), this.#apiVersion)
    if (!definition) throw fault(msg`Invalid set.`, place)
    const operands = definition.keys.map((key, index) => {
      const part = json.get(key)
      const type = definition.types[index] as ArgumentType<unknown>
      return part === undefined ? undefined : this.#setPart(type, part, place.at(key))
    })
    return { kind: 'set', place, call: { kind: 'call', place, definition, operands } }
  }

  #setPart({ mode }: ArgumentType<unknown>, json: Json, place: Place): Operand {
    // In a query, the argument `with` of a join can be an index, but the protocol rejects an index in a set literal.
    if (mode !== 'value') return this.#closedLambda(json, place)
    if (!Array.isArray(json)) return this.#setOperand(json, place)
    const elements = json.map((element, index) => this.#setOperand(element, place.at(index)))
    return { kind: 'array', place, elements }
  }

  /**
   * A nested set may lack the tag `@set`. In responses, the nested sets of a stored set have the form
   * `{"@obj": {"@set": …}}`, so this form is also valid.
   */
  #setOperand(json: Json, place: Place): Expression {
    if (!(json instanceof Map)) return this.#quoted(json, place)
    const stored = json.size === 1 ? json.get('@obj') : undefined
    if (stored instanceof Map && stored.size === 1 && stored.has('@set')) {
      return this.#setLiteral(stored.get('@set') as Json, place.at('@obj'))
    }
    const isSet = this.#functions.findSet(json.keys(), this.#apiVersion) !== undefined
    return isSet ? this.#setLiteral(json, place) : this.#quoted(json, place)
  }
}

function taggedTypeName(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return typeName(expression.value)
    case 'reference':
      return 'Ref'
    case 'set':
      return 'Set'
    case 'query':
      return 'Lambda'
    default:
      return 'Object'
  }
}

/** An array of literals becomes a literal. */
function foldArray(elements: readonly Expression[], place: Place): Expression {
  if (!elements.every(isLiteral)) return { kind: 'array', place, elements }
  return { kind: 'literal', place, value: (elements as Literal[]).map(element => element.value) }
}

function foldObject(fields: readonly (readonly [string, Expression])[], place: Place): Expression {
  if (!fields.every(([, value]) => isLiteral(value))) return { kind: 'object', place, fields }
  const value = new Map(fields.map(([name, field]) => [name, (field as Literal).value]))
  return { kind: 'literal', place, value }
}

function isLiteral(expression: Expression): expression is Literal {
  return expression.kind === 'literal'
}
