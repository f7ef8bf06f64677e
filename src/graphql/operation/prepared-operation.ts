// Parses and validates documents, and remembers the result for each database: the same text is validated again only
// after a change of the schema.

import type { GraphQLError, OperationDefinitionNode } from 'graphql'
import { catchError } from '../../base/catch-error.ts'
import { longCall } from '../../base/effort.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { Session } from '../../model/session.ts'
import { OperationError } from '../errors.ts'
import type { Library } from '../library.ts'
import { checkOperation, checkText, type Fragments, graphqlLimits } from '../limits.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import { describeSyntaxError, validationEntry, variableEntry } from './messages.ts'
import type { CompiledOperation } from './operation-compiler.ts'
import type { OperationRequest } from './operation-request.ts'
import type { Variables } from './selections.ts'

/** Maximum number of compiled forms of one operation. Each form belongs to values of `@include` and `@skip`. */
const compiledFormsMax = 16

/** A valid operation. */
export interface PreparedOperation {
  readonly operation: OperationDefinitionNode
  readonly fragments: Fragments
  /** The names of the variables on which `@include` and `@skip` depend. */
  readonly conditions: readonly string[]
  /** Compiled forms by the values of the conditions. */
  readonly compiled: Map<string, CompiledOperation>
  /** The JSON of the fields `__schema` and `__type`, if it depends on no variables. */
  introspected: ReadonlyMap<string, string> | undefined
  /** The length of the text, as the weight in the cache. */
  readonly units: number
}

/** Maximum number of UTF-16 units of the texts of all prepared operations of a database. */
const operationUnitsMax = 200_000

/** The prepared operations of a database, until its schema changes. */
function preparedOperations({ database, transaction }: Session): GenerationCache<string, PreparedOperation> {
  return transaction.catalogue.derived(
    database,
    'graphql operations',
    () => new GenerationCache<string, PreparedOperation>(operationUnitsMax, ({ units }) => units),
  )
}

/** Returns the operation that a request selects. Throws OperationError if the document is invalid. */
export function prepareOperation(
  request: OperationRequest,
  schema: DatabaseSchema,
  session: Session,
): PreparedOperation {
  const { operationName = '', query } = request
  const operations = preparedOperations(session)
  const key = `${operationName}\n${query}`
  const known = operations.get(key)
  if (known !== undefined) return known
  const prepared = prepare(request, schema)
  operations.set(key, prepared)
  return prepared
}

function prepare(
  { operationName, query }: OperationRequest,
  { generated, library }: DatabaseSchema,
): PreparedOperation {
  checkText(query, graphqlLimits.documentTokensMax, message => OperationError.invalid(message))
  const { Kind } = library
  const document = catchError(
    library.GraphQLError,
    () => library.parse(query),
    error => {
      throw syntaxError(error, query)
    },
  )
  const operations = document.definitions.filter(each => each.kind === Kind.OPERATION_DEFINITION)
  const fragments = new Map(
    document.definitions
      .filter(each => each.kind === Kind.FRAGMENT_DEFINITION)
      .map(each => [each.name.value, each]),
  )
  for (const each of operations) checkOperation(each, fragments, library)
  longCall(query.length)
  const errors = library.validate(generated, document, undefined, {
    maxErrors: graphqlLimits.validationErrorsMax,
  })
  if (errors.length > 0) {
    const entries = errors.map(error => validationEntry(error, query, generated))
    throw new OperationError(entries, { isInvalid: true, template: msg`The document is invalid.` })
  }
  const operation = selectOperation(operations, operationName)
  if (operation.operation === 'subscription')
    throw OperationError.invalid(msg`Subscriptions are not supported.`)
  const conditions = conditionsOf([operation, ...fragments.values()], library)
  return {
    operation,
    fragments,
    conditions,
    compiled: new Map(),
    introspected: undefined,
    units: query.length + minimalUnits,
  }
}

/** The weight of an operation in addition to its text. */
const minimalUnits = 500

function syntaxError(error: GraphQLError, query: string): OperationError {
  const locations = (error.locations ?? []).map(({ column, line }) => ({ line, column }))
  const message = describeSyntaxError(error, query, 'query')
  return new OperationError([{ message, locations }], { isInvalid: true, template: msg`Syntax error.` })
}

function selectOperation(
  operations: readonly OperationDefinitionNode[],
  name: string | undefined,
): OperationDefinitionNode {
  const [first] = operations
  if (name === undefined) {
    if (first === undefined) throw OperationError.invalid(msg`The document contains no operation.`)
    if (operations.length > 1)
      throw OperationError.invalid(msg`Must provide operation name if query contains multiple operations.`)
    return first
  }
  const found = operations.find(each => each.name?.value === name)
  if (found === undefined) throw OperationError.invalid(msg`Unknown operation name '${name}'.`)
  return found
}

/** Returns the names of the variables in the directives `@include` and `@skip`. */
function conditionsOf(definitions: readonly PreparedDefinition[], library: Library): readonly string[] {
  const names = new Set<string>()
  for (const definition of definitions)
    library.visit(definition, {
      Directive(node) {
        for (const { value } of node.arguments ?? [])
          if (value.kind === library.Kind.VARIABLE) names.add(value.name.value)
      },
    })
  return [...names]
}

type PreparedDefinition =
  | OperationDefinitionNode
  | (Fragments extends ReadonlyMap<string, infer F> ? F : never)

/** Returns the compiled form for the variables of a request. */
export function compiledForm(
  prepared: PreparedOperation,
  variables: Variables,
  compile: () => CompiledOperation,
): CompiledOperation {
  const key = prepared.conditions.map(name => String(variables[name])).join(' ')
  const known = prepared.compiled.get(key)
  if (known !== undefined) return known
  const compiled = compile()
  if (compiled.isForOneRequest) return compiled
  if (prepared.compiled.size >= compiledFormsMax) prepared.compiled.clear()
  return upsert(prepared.compiled, key, () => compiled)
}

/** Returns the coerced variables of a request. Throws OperationError for invalid values. */
export function coerceVariables(
  { operation }: PreparedOperation,
  { query, variables }: OperationRequest,
  { generated, library }: DatabaseSchema,
): Variables {
  const definitions = operation.variableDefinitions ?? []
  const { coerced, errors } = library.getVariableValues(generated, definitions, variables, {
    maxErrors: graphqlLimits.validationErrorsMax,
  })
  if (coerced !== undefined) return coerced
  const types = new Map(definitions.map(({ type, variable }) => [variable.name.value, library.print(type)]))
  const entries = (errors ?? []).map(error => variableEntry(error, query, { values: variables, types }))
  throw new OperationError(entries, { isInvalid: true, template: msg`A variable has an invalid value.` })
}
