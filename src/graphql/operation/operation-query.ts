// Evaluates an operation: prepares it, runs its expression in the transaction of the request, and renders the response.

import { longCall } from '../../base/effort.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { type Message, messageOf, msg } from '../../base/message.ts'
import { QueryError, type ErrorEntry as QueryErrorEntry } from '../../fql4/query-errors.ts'
import type { Query, RenderedResponse } from '../../model/language.ts'
import type { Session } from '../../model/session.ts'
import { parseJson } from '../../values/json.ts'
import type { Value } from '../../values/value.ts'
import { OperationError } from '../errors.ts'
import { libraryOf } from '../library.ts'
import { graphqlLimits } from '../limits.ts'
import { type DatabaseSchema, databaseSchema } from '../schema/database-schema.ts'
import { upperFirst } from '../schema/definitions.ts'
import { type CompiledOperation, compileOperation } from './operation-compiler.ts'
import { containsMutation, type OperationRequest } from './operation-request.ts'
import type { ParameterInputs } from './parameters.ts'
import {
  coerceVariables,
  compiledForm,
  introspection,
  type PreparedOperation,
  prepareOperation,
} from './prepared-operation.ts'
import { renderData } from './render-result.ts'
import type { Variables } from './selections.ts'

/** Maximum number of UTF-16 units of the long documents that a process knows. */
const knownUnitsMax = 1_000_000
/** Milliseconds in which this process may parse and validate a long document. */
const preparationMsMax = 5

/**
 * The long documents that this process may parse and validate: the slow lane has found them valid in a short time. Other
 * long documents always run in the slow lane. The library validates a document without a pause, and results are
 * remembered only for valid documents.
 */
const knownDocuments = new GenerationCache<string, number>(knownUnitsMax, units => units)

/** Remembers a long document that another process has validated in a short time. */
export function rememberDocument(query: string): void {
  knownDocuments.set(query, query.length)
}

export class OperationQuery implements Query {
  readonly #request: OperationRequest
  readonly effect: Query['effect']

  constructor(request: OperationRequest) {
    this.#request = request
    this.effect = containsMutation(request.query) ? 'write' : 'read'
  }

  get isLong(): boolean {
    const { query } = this.#request
    return query.length > graphqlLimits.newDocumentUnits && knownDocuments.get(query) === undefined
  }

  evaluate(session: Session): RenderedResponse {
    const library = libraryOf(session.memo)
    const schema = databaseSchema(session, library)
    const prepared = prepareOperation(this.#request, schema, session)
    const variables = coerceVariables(prepared, this.#request, schema)
    const source: ParameterInputs = { session, variables, known: new Map() }
    const { fragments, operation } = prepared
    const compiled = compiledForm(prepared, variables, session, () =>
      compileOperation(operation, fragments, schema, source),
    )
    const introspected = introspect(prepared, compiled, this.#request.variables, schema, session)
    const value = run(compiled, source)
    noteObjects(prepared, compiled, schema, session)
    const { query: text } = this.#request
    const { data, errors } = renderData(compiled.plan, value, { session, text, introspected })
    const rest = errors.length === 0 ? '' : `,"errors":${JSON.stringify(errors)}`
    const isShort = text.length <= graphqlLimits.newDocumentUnits
    const isLesson = !isShort && prepared.preparationMs <= preparationMsMax
    return { status: 200, body: `{"data":${data}${rest}}`, lesson: isLesson ? text : undefined }
  }

  value(session: Session): Value {
    return parseJson(this.evaluate(session).body)
  }
}

/** Runs the expression of an operation. Converts the errors of version 4. */
function run({ lambda, parameters }: CompiledOperation, source: ParameterInputs): Value {
  const list = parameters.values(source)
  try {
    return source.session.run(lambda, { list })
  } catch (error) {
    if (error instanceof QueryError) throw operationError(error)
    throw error
  }
}

/** Records the indexes and functions of the root fields for the query log. */
function noteObjects(
  { operation }: PreparedOperation,
  { plan }: CompiledOperation,
  schema: DatabaseSchema,
  { named }: Session,
): void {
  const root = operation.operation === 'mutation' ? 'Mutation' : 'Query'
  for (const { node } of plan.members) {
    const name = node.name.value
    const index = schema.indexes.get(name)
    const resolver = schema.functions.get(`${root}.${name}`)
    if (resolver !== undefined) named.note('function', resolver.name)
    else if (index !== undefined) named.note('index', index.name)
  }
}

const noIntrospections: ReadonlyMap<string, string> = new Map()

/** Returns the JSON of the fields `__schema` and `__type` by their names in the response. */
function introspect(
  prepared: PreparedOperation,
  { introspections }: CompiledOperation,
  variables: Variables,
  schema: DatabaseSchema,
  session: Session,
): ReadonlyMap<string, string> {
  if (introspections.length === 0) return noIntrospections
  return introspection(prepared, session, () => execute(prepared, introspections, variables, schema))
}

function execute(
  { fragments, operation }: PreparedOperation,
  introspections: CompiledOperation['introspections'],
  variables: Variables,
  { generated, library, units }: DatabaseSchema,
): ReadonlyMap<string, string> {
  longCall(units * introspections.length)
  const { Kind } = library
  const selections = introspections.flatMap(({ node, selectionSets }) =>
    selectionSets.map(selectionSet => ({ ...node, selectionSet })),
  )
  const filtered = { ...operation, selectionSet: { ...operation.selectionSet, selections } }
  const document = { kind: Kind.DOCUMENT, definitions: [filtered, ...fragments.values()] } as const
  const { data, errors = [] } = library.executeSync({
    schema: generated,
    document,
    variableValues: variables,
  })
  const [error] = errors
  if (error !== undefined || !data)
    throw OperationError.invalid(error?.message ?? 'The schema cannot be read.')
  return new Map(Object.entries(data).map(([key, value]) => [key, JSON.stringify(value)]))
}

/** Texts of version 4 that clients of GraphQL know in an older form. */
const olderTexts: Readonly<Record<string, string>> = {
  'document is not unique.': 'Instance is not unique.',
  'The document was not found or provided password was incorrect.':
    'The instance was not found or provided password was incorrect.',
}

/** The response contains the innermost cause of a failed function call. */
function operationError({ aborted, errors }: QueryError): OperationError {
  let [first] = errors as readonly [QueryErrorEntry]
  while (first.code === 'call error' && first.cause?.[0] !== undefined) first = first.cause[0]
  const { code, description } = first
  const older = Object.hasOwn(olderTexts, description) ? olderTexts[description] : undefined
  const isOwn = code !== 'transaction aborted'
  const message = isOwn ? (older ?? upperFirst(description)) : description
  const template: Message = isOwn ? messageOf(first.template) : msg``
  return new OperationError([{ message, extensions: { code } }], { isInvalid: false, template, aborted })
}
