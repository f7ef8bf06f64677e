// The environment of a database: the types of its collections, and of its functions. Types that the schema does not
// declare are inferred when they are first used.

import { type Message, msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import {
  type CollectionItem,
  type FunctionItem,
  namesOf,
  ofKind,
  type SchemaItem,
  type SettingMember,
  withoutParentheses,
} from '../schema/fsl/schema-items.ts'
import { type LambdaNode, type Node, shortParameter, type TypeNode } from '../syntax/nodes.ts'
import type { Source, Span } from '../syntax/source.ts'
import { librarySignature, resolveType } from './annotations.ts'
import { bounded } from './budget.ts'
import { print, solverFor } from './check-query.ts'
import { CollectionShapes } from './collection-shapes.ts'
import { type Declaration, type DeclaredField, metadata } from './documents.ts'
import type { Environment, Scheme } from './environment.ts'
import { Typer } from './expressions.ts'
import { LazyScheme } from './lazy-scheme.ts'
import { libraryNames, libraryShapes } from './library.ts'
import type { PrintedType } from './print.ts'
import { resolveOverloads } from './resolve-overloads.ts'
import { anyType, type FunctionType, namedType, type Type, withoutSpans } from './terms.ts'

interface SchemaItems {
  readonly collections: readonly CollectionItem[]
  /**
   * Functions by name and alias. The item is read when a function is first used, and is undefined if the function has
   * syntax errors.
   */
  readonly functions: ReadonlyMap<string, { readonly item: SchemaItem | undefined }>
  /** Functions whose types are unknown, such as those of version 4. */
  readonly untyped: readonly string[]
}

function moduleScheme(name: string): Scheme {
  const type = namedType(`${name}Collection`)
  return { parameters: [], type, text: type.name }
}

const anyScheme: Scheme = { parameters: [], type: anyType, text: 'Any' }

/**
 * The level of variables and type parameters in the code of the schema. Variables of a lower level cannot have a type
 * parameter as value.
 */
const codeLevel = 1

interface InferredType {
  readonly scheme: Scheme
  readonly errors: readonly Diagnostic[]
}

/** A function or computed field whose type is being inferred. */
interface Inference {
  readonly key: string
  readonly name: string
  readonly span: Span
}

/** Infers types on demand, in the order in which functions and computed fields use each other, and caches them. */
export class SchemaTypes {
  readonly items: SchemaItems
  /** Errors about recursion, by the key of the function or computed field. */
  readonly #recursive = new Map<string, Diagnostic>()
  /** The shapes of the schema, without those of the library. */
  readonly shapes = new CollectionShapes({
    declaration: item => this.#declaration(item),
    fieldType: (item, name) => this.#fieldType(item, name),
    // While a type is being inferred, the types of some fields are unknown.
    alias: item =>
      new LazyScheme(
        () => this.#record(item),
        () => this.#inferring.length === 0,
      ),
  })
  readonly #globals = new Map<string, Scheme>()
  readonly #inferred = new Map<string, InferredType>()
  readonly #inferring: Inference[] = []

  constructor(items: SchemaItems) {
    this.items = items
    for (const name of items.untyped) this.#globals.set(name, anyScheme)
    for (const item of items.collections) {
      for (const name of namesOf(item)) {
        this.#globals.set(name, moduleScheme(name))
        this.shapes.add(name, item)
      }
    }
  }

  /** The environment of queries. */
  readonly environment: Environment = {
    global: name => libraryNames.get(name) ?? this.#global(name, true),
    shape: name => libraryShapes.get(name) ?? this.shapes.get(name),
  }

  /** The environment for the code of the schema. Functions have function types, instead of `UserFunction`. */
  readonly inner: Environment = {
    global: name => libraryNames.get(name) ?? this.#global(name, false),
    shape: this.environment.shape,
  }

  /** The collections and functions of the schema, with the types that queries see. */
  names(): readonly (readonly [string, Scheme])[] {
    return [...new Set([...this.#globals.keys(), ...this.items.functions.keys()])].flatMap(name => {
      const scheme = this.#global(name, true)
      return scheme === undefined ? [] : [[name, scheme] as const]
    })
  }

  #global(name: string, isOuter: boolean): Scheme | undefined {
    const known = this.#globals.get(name)
    if (known !== undefined) return known
    const item = this.items.functions.get(name)?.item
    if (item?.kind !== 'function') return undefined
    const { parameters, type } = this.functionType(item).scheme
    if (type.kind === 'any' || !isOuter) return { parameters, type, text: '' }
    const wrapped: Type = { kind: 'named', name: 'UserFunction', args: [type] }
    return { parameters, type: wrapped, text: '' }
  }

  readonly #declarations = new Map<CollectionItem, Declaration>()

  #declaration(item: CollectionItem): Declaration {
    return upsert(this.#declarations, item, () => {
      const fields = ofKind(item.members, 'field').map(
        ({ name, type, defaultValue }): DeclaredField => ({
          name: name.text,
          node: type,
          type: this.declared(type, item.source).type,
          hasDefault: defaultValue !== undefined,
        }),
      )
      const [wildcard] = ofKind(item.members, 'wildcard')
      const ttls = item.members.find(({ kind }) => kind === 'document_ttls') as SettingMember | undefined
      const hasWildcard = wildcard !== undefined || fields.length === 0
      return {
        fields,
        wildcard: hasWildcard ? anyType : undefined,
        hasTtls: ttls === undefined ? fields.length === 0 : ttls.value === true,
      }
    })
  }

  /** The declared type of a field, and the errors in the declaration. */
  declared(node: TypeNode, source: Source): { readonly type: Type; readonly errors: readonly Diagnostic[] } {
    const errors: Diagnostic[] = []
    const error = (message: Message, span: Span | undefined) => errors.push({ name: 'error', message, span })
    const { shape } = this.environment
    const { type } = resolveType(node, { source, shape, genericLevel: undefined, error, warning: error })
    return { type, errors }
  }

  #fieldType(item: CollectionItem, name: string): Type | undefined {
    const own = this.#declaration(item).fields.find(each => each.name === name)
    if (own !== undefined) return own.type
    const computed = ofKind(item.members, 'computed').find(each => each.name.text === name)
    if (computed !== undefined) return this.computedType(item, computed).scheme.type
    return metadata.get(name) ?? this.#declaration(item).wildcard
  }

  #record(item: CollectionItem): Type {
    const { fields, wildcard } = this.#declaration(item)
    const all = new Map(metadata)
    for (const { name, type } of fields) all.set(name, type)
    for (const each of ofKind(item.members, 'computed')) {
      // While a type is being inferred, the fields that are not known yet may depend on it.
      const isUnknown = this.#inferring.length > 0 && !this.#inferred.has(computedKey(item, each.name.text))
      all.set(each.name.text, isUnknown ? anyType : this.computedType(item, each).scheme.type)
    }
    return { kind: 'record', fields: all, wildcard }
  }

  // Functions and computed fields.

  /** The type of a function, and the errors in its declaration and body. */
  functionType(item: FunctionItem): InferredType {
    const { name, source } = item
    const span = { source, start: name.start, end: name.end }
    return this.#once(`function ${name.text}`, name.text, span, item.result !== undefined, () => {
      const lambda = lambdaOf(item)
      if (item.result === undefined) return this.#infer(lambda, source, undefined)
      return this.#checkFunction(item, item.result, lambda)
    })
  }

  #checkFunction(item: FunctionItem, result: TypeNode, lambda: LambdaNode): InferredType {
    const { source } = item
    const errors: Diagnostic[] = []
    const error = (message: Message, span: Span | undefined) => errors.push({ name: 'error', message, span })
    const node: TypeNode = {
      kind: 'function',
      // If the result has a type, all parameters have types (schema/fsl/parse-file.ts).
      parameters: item.parameters.map(({ name, isRest, type }) => ({
        name: name.text,
        isRest,
        type: type as TypeNode,
      })),
      result,
      start: item.list.start,
      end: result.end,
    }
    const { shape } = this.environment
    const signature = resolveType(node, { source, shape, genericLevel: codeLevel, error, warning: error })
    const scheme: Scheme = {
      parameters: signature.generics.map(({ name }) => name),
      type: withoutNames(signature.type),
      text: '',
    }
    // Other functions may call this function while its body is checked.
    this.#inferred.set(`function ${item.name.text}`, { scheme: stripped(scheme), errors: [] })
    const solver = solverFor(this.inner)
    solver.level = codeLevel
    const type = new Typer(solver, source).lambda(lambda, undefined)
    solver.check(type, signature.type, { source, start: item.body.start, end: item.body.end })
    return { scheme: stripped(scheme), errors: [...errors, ...solver.errors] }
  }

  /** The type of a computed field, and the errors in its declaration and body. */
  computedType(
    item: CollectionItem,
    member: CollectionItem['members'][number] & { kind: 'computed' },
  ): InferredType {
    const { name, type } = member
    const { source } = item
    const key = computedKey(item, name.text)
    return this.#once(
      key,
      name.text,
      { source, start: name.start, end: name.end },
      type !== undefined,
      () => {
        const document = namedType(item.name.text)
        if (type === undefined) return this.#infer(lambdaIn(member.body), source, document)
        const { errors, type: declared } = this.declared(type, source)
        const scheme = new LazyScheme(() => withoutSpans(declared))
        this.#inferred.set(key, { scheme, errors: [] })
        const found = this.checkLambda(lambdaIn(member.body), source, ofDocument(document, declared))
        return { scheme, errors: [...errors, ...found] }
      },
    )
  }

  /** Returns the errors in a lambda, and the error if the type of the lambda does not fit `use`. */
  checkLambda(lambda: LambdaNode, source: Source, use: FunctionType | undefined): readonly Diagnostic[] {
    const check = () => {
      const solver = solverFor(this.inner)
      solver.level = codeLevel
      const type = new Typer(solver, source).lambda(lambda, undefined)
      if (use !== undefined) solver.check(type, use, { source, start: lambda.start, end: lambda.end })
      return solver.errors
    }
    return bounded(check, () => [])
  }

  /**
   * In a database without type checks (`isTyped` is false), values whose types contain `Number` pass, because the
   * result of arithmetic can be an `Int`. Errors within the expression pass, too: the evaluation of the default value
   * finds these errors.
   */
  checkDefault(node: Node, source: Source, type: Type, isTyped: boolean): readonly Diagnostic[] {
    const solver = solverFor(this.inner)
    const check = () => {
      const value = new Typer(solver, source).type(node, undefined)
      const isUnsure = solver.errors.length > 0 || print(solver, value, true).forms.has('Number')
      if (!isTyped && isUnsure) return []
      solver.check(value, type, { source, start: node.start, end: node.end })
      return solver.errors
    }
    return bounded(check, () => [])
  }

  #infer(lambda: LambdaNode, source: Source, document: Type | undefined): InferredType {
    const solver = solverFor(this.inner)
    solver.level = codeLevel
    const typer = new Typer(solver, source)
    const type = typer.lambda(lambda, undefined)
    let inferred: Type = type
    if (document !== undefined) {
      const result = solver.variable()
      const site = { source, start: lambda.start, end: lambda.end }
      if (!solver.check(type, ofDocument(document, result), site)) result.isPoisoned = true
      inferred = result
    }
    if (solver.errors.length > 0) return { scheme: anyScheme, errors: solver.errors }
    const printed = print(solver, resolveOverloads(solver, inferred, 0), true)
    if (printed.forms.has('projection'))
      return { scheme: anyScheme, errors: [unknownProjection(typer, source)] }
    return { scheme: readScheme(printed), errors: [] }
  }

  /** Infers or checks a type once. An inferred type that depends on itself is `Any`, with an error. */
  #once(key: string, name: string, span: Span, isDeclared: boolean, infer: () => InferredType): InferredType {
    const known = this.#inferred.get(key)
    if (known !== undefined) return known
    const at = this.#inferring.findIndex(each => each.key === key)
    if (at >= 0) {
      const cycle = this.#inferring.slice(at)
      // The error names the same function or field wherever the inference begins.
      const [shown = { key, name, span }] = cycle.sort((left, right) => (left.name < right.name ? -1 : 1))
      const message = msg`Recursively defined \`${shown.name}\` needs explicit type.`
      this.#recursive.set(shown.key, { name: 'error', message, span: shown.span })
      return { scheme: anyScheme, errors: [] }
    }
    // A declared type stays in effect if the check of its body exceeds the budget.
    const inferred = () => bounded(infer, () => this.#inferred.get(key) ?? { scheme: anyScheme, errors: [] })
    const found = isDeclared ? inferred() : this.#whileInferring({ key, name, span }, inferred)
    const recursion = this.#recursive.get(key)
    const result =
      recursion === undefined ? found : { scheme: anyScheme, errors: [...found.errors, recursion] }
    this.#inferred.set(key, result)
    return result
  }

  /** Removes the entry also after an interruption, because later queries use the same types. */
  #whileInferring(entry: Inference, infer: () => InferredType): InferredType {
    this.#inferring.push(entry)
    try {
      return infer()
    } finally {
      this.#inferring.pop()
    }
  }
}

/** Lists parsed functions in the form that {@link SchemaTypes} needs. */
export function functionsByName(items: readonly FunctionItem[]): SchemaItems['functions'] {
  return new Map(items.flatMap(item => namesOf(item).map(name => [name, { item }] as const)))
}

/** The type of a function with one parameter, a document. */
export function ofDocument(document: Type, result: Type): FunctionType {
  return { kind: 'function', parameters: [{ name: undefined, type: document }], rest: undefined, result }
}

function computedKey(item: CollectionItem, name: string): string {
  return `computed ${item.name.text}.${name}`
}

function stripped({ parameters, type }: Scheme): Scheme {
  return { parameters, type: withoutSpans(type), text: '' }
}

function withoutNames(type: Type): Type {
  if (type.kind !== 'function') return type
  return { ...type, parameters: type.parameters.map(each => ({ ...each, name: undefined })) }
}

function lambdaOf({ body, end, list, parameters }: FunctionItem): LambdaNode {
  const names = parameters.filter(({ isRest }) => !isRest).map(({ name }) => name.text)
  const rest = parameters.find(({ isRest }) => isRest)?.name.text
  return { kind: 'lambda', parameters: names, rest, body, start: list.start, end }
}

/** Removes the parentheses of a short lambda. Any other expression becomes the body of a short lambda. */
export function lambdaIn(body: Node): LambdaNode {
  const node = withoutParentheses(body)
  if (node.kind === 'lambda') return node
  return {
    kind: 'lambda',
    parameters: [shortParameter],
    rest: undefined,
    body: node,
    start: node.start,
    end: node.end,
  }
}

/** Types that cannot be written, such as recursive ones, are `Any`. */
function readScheme({ forms, parameters, text }: PrintedType): Scheme {
  if (text === '_' || forms.has('recursion') || forms.has('difference')) return anyScheme
  const prefix = parameters.length === 0 ? '' : `<${parameters.join(', ')}> `
  try {
    const { type } = librarySignature(`${prefix}${text}`)
    return { parameters, type, text: `${prefix}${text}` }
  } catch {
    return anyScheme
  }
}

function unknownProjection(typer: Typer, source: Source): Diagnostic {
  const unknown = typer.projections.find(
    ({ operand }) => operand.kind === 'variable' && operand.lower.length === 0,
  )
  const node = (unknown ?? typer.projections[0])?.node
  const message = msg`Invalid projection on a unknown type. Use function signatures to fix the issue.`
  return { name: 'error', message, span: node && { source, start: node.start, end: node.end } }
}
