// Reads and imports the GraphQL schema of a database, and runs operations.

import { currentSecret } from '../session.ts'
import { tryJson, writeJson } from '../wire/json.ts'
import { callText, type RequestSecret } from './client.ts'
import { errorOf, ServiceError } from './faults.ts'

/** `replace` keeps documents whose types leave the schema. `override` deletes them, with their collections. */
export type ImportMode = 'merge' | 'replace' | 'override'

export interface GraphqlSchema {
  /** Undefined if the caller may not read this text. Empty if there is none. */
  readonly imported: string | undefined
  /** The schema that clients see. */
  readonly generated: string
}

const forbidden = 403

async function read(path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  const response = await callText('GET', path, currentSecret.value, undefined, signal)
  if (response.status >= 300 && response.status !== forbidden) throw errorOfResponse(response)
  return response
}

/** Also accepts a body with plain text. */
function errorOfResponse({ status, text }: { readonly status: number; readonly text: string }): ServiceError {
  const body = tryJson(text)
  return body === undefined ? new ServiceError(status, text) : errorOf(status, body)
}

/** Throws {@link ServiceError}. */
export async function readGraphqlSchema(signal: AbortSignal): Promise<GraphqlSchema> {
  const [imported, generated] = await Promise.all([
    read('/import', signal),
    read('/import?schema=generated', signal),
  ])
  return { imported: imported.status === forbidden ? undefined : imported.text, generated: generated.text }
}

/** Throws {@link ServiceError} with the reason of a rejection. */
export async function importGraphqlSchema(
  text: string,
  mode: ImportMode,
  signal: AbortSignal,
): Promise<void> {
  const response = await callText('POST', `/import?mode=${mode}`, currentSecret.value, text, signal)
  if (response.status >= 300) throw errorOfResponse(response)
}

export interface OperationResult {
  /** The response as indented JSON. */
  readonly text: string
  /** The time from the request to the last byte, measured in the browser. */
  readonly elapsedMs: number
}

/**
 * Runs an operation as the user or as another caller. `variables` is the text of a JSON object, or empty; throws an
 * Error for other forms. The response contains the errors of the operation.
 */
export async function runOperation(
  query: string,
  variables: string,
  as: RequestSecret,
  signal: AbortSignal,
): Promise<OperationResult> {
  const values = variables.trim() === '' ? null : tryJson(variables)
  if (values === undefined || (values !== null && !(values instanceof Map)))
    throw new Error('The variables must be a JSON object, such as {"name": "Ada"}.')
  const started = performance.now()
  const body = writeJson({ query, variables: values })
  const { text } = await callText('POST', '/graphql', { ...as, isFromUser: true }, body, signal)
  return { text: indented(text), elapsedMs: performance.now() - started }
}

/** Longer responses are shown without indentation. */
const indentedCharsMax = 2_000_000

function indented(text: string): string {
  const value = text.length > indentedCharsMax ? undefined : tryJson(text)
  return value === undefined ? text : writeJson(value, '  ')
}
