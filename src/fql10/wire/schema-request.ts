// Encodes requests to the schema endpoints as a single text, because another process may evaluate the requests.

import type { RequestErrorCode } from '../../base/request-errors.ts'
import { quoteJson } from '../../values/json-text.ts'

/** A request to a schema endpoint. */
export interface SchemaRequest {
  readonly method: string
  /** The parts of the path after `/schema/1/`, decoded. */
  readonly path: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  /** The files in the request, in order. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  /** The body of a request without files. */
  readonly text: string
}

/** The request options that mark a schema request. */
export const schemaOptions = { kind: 'schema' } as const

/** Encodes a request. */
export function schemaRequestText(request: SchemaRequest): string {
  return JSON.stringify(request)
}

/** Decodes a request. */
export function readSchemaRequest(text: string): SchemaRequest {
  // The text comes from this service, so no validation is necessary.
  return JSON.parse(text) as SchemaRequest
}

export function schemaErrorBody(message: string): string {
  return `{"error":{"message":${quoteJson(message)}}}`
}

/** The body of the response to a request that fails with a RequestError. */
export function schemaRequestErrorBody(code: RequestErrorCode, description: string): string {
  return schemaErrorBody(code === 'unauthorized' ? 'Access token required' : description)
}
