// A request about schema files on its way from the edge to the language: one text, since it may be handed to another process.

import type { RequestErrorCode } from '../../base/errors.ts'
import { quoteJson } from '../../values/json-text.ts'

/** What a request asks for. */
export interface SchemaRequest {
  readonly method: string
  /** The parts of the path behind `/schema/1/`, decoded. */
  readonly path: readonly string[]
  readonly parameters: Readonly<Record<string, string>>
  /** The files sent, in their order; undefined when none could be sent. */
  readonly files: readonly { readonly name: string; readonly text: string }[]
  /** The body, where it is no list of files. */
  readonly text: string
}

/** The option of a language's request that says that it is one about schema files. */
export const schemaOptions = { kind: 'schema' } as const

/** The request as the text of a request of its language. */
export function schemaRequestText(request: SchemaRequest): string {
  return JSON.stringify(request)
}

/** Reads it back. */
export function readSchemaRequest(text: string): SchemaRequest {
  // Written by this service itself, just now.
  return JSON.parse(text) as SchemaRequest
}

/** The body of an error. */
export function schemaErrorBody(message: string): string {
  return `{"error":{"message":${quoteJson(message)}}}`
}

/** The body of an error of the request as a whole. */
export function schemaRequestErrorBody(code: RequestErrorCode, description: string): string {
  return schemaErrorBody(code === 'unauthorized' ? 'Access token required' : description)
}
