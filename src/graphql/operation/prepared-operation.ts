// Parses and validates documents, and remembers the result for each database: the same text is validated again only
// after a change of the schema.

import type { FragmentDefinitionNode, GraphQLError, OperationDefinitionNode } from 'graphql'
import { catchError } from '../../base/catch-error.ts'
import { systemClock } from '../../base/clock.ts'
import { longCall } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { Remembered } from '../../model/remembered.ts'
import type { Session } from '../../model/session.ts'
import { OperationError } from '../errors.ts'
import type { Library } from '../library.ts'
import { checkSelections, checkText, type Fragments, fragmentsByName, graphqlLimits } from '../limits.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import { DocumentLines, describeSyntaxError, validationEntry, variableEntry } from './messages.ts'
import type { CompiledOperation } from './operation-compiler.ts'
import type { OperationRequest } from './operation-request.ts'
import type { Variables } from './selections.ts'

export interface PreparedOperation {
  readonly operation: OperationDefinitionNode
  readonly fragments: Fragments
  /** The names of the variables on which `@include` and `@skip` depend. */
  readonly conditions: readonly string[]
  /** The key of the operation in the caches of its database. */
  readonly key: string
  /** The milliseconds that parsing and validating the document have taken. */
  readonly preparationMs: number
  /** The weight of the operation, and of each of its compiled forms, in the caches of its database. */
  readonly units: number
}

/** The weight of an operation in addition to the UTF-16 units of its text. */
const minimalUnits = 500

/** Measured bytes of memory for each unit of an operation or of a compiled form. */
const bytesPerUnit = 250

/** Maximum weight of all operations, and of all compiled forms, that are remembered for a database. */
const rememberedUnitsMax = 50_000

/** Maximum number of UTF-16 units of the remembered results of introspection of a database. */
const introspectedUnitsMax = 1_000_000

/** Throws OperationError if the document is invalid, or has no operation with the requested name. */
export function prepareOperation(
  request: OperationRequest,
  schema: DatabaseSchema,
  session: Session,
): PreparedOperation {
  const { operationName = '', query } = request
  const key = `${operationName}\n${query}`
  const name = 'graphql operations'
  const operations = Remembered.of<PreparedOperation>(name, rememberedUnitsMax, bytesPerUnit, session)
  const known = operations.get(key)
  if (known !== undefined) return known
  const prepared = prepare(request, key, schema)
  operations.set(key, prepared, prepared.units, session)
  return prepared
}

function prepare(
  { operationName, query }: OperationRequest,
  key: string,
  { generated, library }: DatabaseSchema,
): PreparedOperation {
  const beganMs = systemClock.elapsedMs()
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
  const given = document.definitions.filter(each => each.kind === Kind.FRAGMENT_DEFINITION)
  checkSelections(operations, given, library)
  const fragments = fragmentsByName(given)
  longCall(query.length)
  const errors = library.validate(generated, document, undefined, {
    maxErrors: graphqlLimits.validationErrorsMax,
  })
  if (errors.length > 0) {
    const lines = new DocumentLines(query)
    const entries = errors.map(error => validationEntry(error, lines, generated))
    throw new OperationError(entries, { isInvalid: true, template: msg`The document is invalid.` })
  }
  const operation = selectOperation(operations, operationName)
  // Validation checks no selections of an operation whose type the schema does not have.
  if (generated.getRootType(operation.operation) === undefined)
    throw OperationError.invalid(msg`Schema is not configured for ${operation.operation}s.`)
  const conditions = conditionsOf([operation, ...fragments.values()], library)
  return {
    operation,
    fragments,
    conditions,
    key,
    preparationMs: systemClock.elapsedMs() - beganMs,
    units: query.length + minimalUnits,
  }
}

function syntaxError(error: GraphQLError, query: string): OperationError {
  const locations = (error.locations ?? []).map(({ column, line }) => ({ line, column }))
  const message = describeSyntaxError(error, new DocumentLines(query), 'query')
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

function conditionsOf(
  definitions: readonly (OperationDefinitionNode | FragmentDefinitionNode)[],
  library: Library,
): readonly string[] {
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

/** An operation has a compiled form for each combination of values of `@include` and `@skip`. */
export function compiledForm(
  prepared: PreparedOperation,
  variables: Variables,
  session: Session,
  compile: () => CompiledOperation,
): CompiledOperation {
  const { conditions, key, units } = prepared
  const name = 'graphql expressions'
  const forms = Remembered.of<CompiledOperation>(name, rememberedUnitsMax, bytesPerUnit, session)
  const formKey = `${conditions.map(each => String(variables[each])).join(' ')}\n${key}`
  const known = forms.get(formKey)
  if (known !== undefined) return known
  const compiled = compile()
  if (!compiled.isForOneRequest) forms.set(formKey, compiled, units, session)
  return compiled
}

/** Returns the JSON by the fields' names in the response. Remembers results that depend on no variables. */
export function introspection(
  { key, operation }: PreparedOperation,
  session: Session,
  introspect: () => ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if ((operation.variableDefinitions ?? []).length > 0) return introspect()
  const name = 'graphql introspections'
  const results = Remembered.of<ReadonlyMap<string, string>>(name, introspectedUnitsMax, 1, session)
  const known = results.get(key)
  if (known !== undefined) return known
  const found = introspect()
  const units = [...found.values()].reduce((sum, json) => sum + json.length, key.length)
  results.set(key, found, units, session)
  return found
}

/** Throws OperationError for invalid values. */
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
  const lines = new DocumentLines(query)
  const entries = (errors ?? []).map(error =>
    variableEntry(error, lines, { values: variables, types, schema: generated }),
  )
  throw new OperationError(entries, { isInvalid: true, template: msg`A variable has an invalid value.` })
}
