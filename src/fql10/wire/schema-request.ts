// Encodes requests to the schema endpoints as a single text, because another process may evaluate the requests.

import type { RequestErrorCode } from '../../base/request-errors.ts'
import { quoteJson } from '../../values/json-text.ts'

export interface SchemaRequest {
  readonly method: string
  /** The decoded parts of the path after `/schema/1/`. */
  readonly path: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  /** Files in the order of the request. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  /** The body of a request without files. */
  readonly text: string
}

export const schemaOptions = { kind: 'schema' } as const

export function schemaRequestText(request: SchemaRequest): string {
  return JSON.stringify(request)
}

export function readSchemaRequest(text: string): SchemaRequest {
  // The text comes from this service, so no validation is necessary.
  return JSON.parse(text) as SchemaRequest
}

export function schemaErrorBody(message: string): string {
  return `{"error":{"message":${quoteJson(message)}}}`
}

export function schemaRequestErrorBody(code: RequestErrorCode, description: string): string {
  return schemaErrorBody(code === 'unauthorized' ? 'Access token required' : description)
}
