// The credentials of requests, and the content or error of responses, for both kinds of connections. The functions for
// responses throw {@link QueryError} for an error of the query or the schema, and {@link TransferError} for all others.

import { tryJson } from '../values/json.ts'
import type { Json } from '../values/value.ts'
import { type DatabasePath, QueryError } from './connection.ts'
import { TransferError } from './record.ts'

/** Returns the credential for the database at `path`, which begins at the database of `secret`. */
export function scopedSecret(secret: string, path: DatabasePath): string {
  return path.length === 0 ? secret : `${secret}:${path.join('/')}:admin`
}

/** Returns the `resource` in the response to a query. `name`: of the connection, for errors. */
export function resourceOf(name: string, status: number, body: string): Json {
  const json = tryJson(body)
  if (status < 300 && json instanceof Map) return json.get('resource') ?? null
  const errors = json instanceof Map ? json.get('errors') : undefined
  const [error] = Array.isArray(errors) ? (errors as readonly Json[]) : []
  if (!(error instanceof Map))
    throw new TransferError(`${name} rejects the query: ${messageOf(status, body)}`)
  throw new QueryError(String(error.get('code')), describe(error))
}

/** Returns the description of an error, followed by the invalid fields of a document. */
function describe(error: ReadonlyMap<string, Json>): string {
  const failures = error.get('failures')
  const parts = Array.isArray(failures)
    ? failures.map((each: Json) =>
        each instanceof Map
          ? `${(each.get('field') as readonly Json[]).join('.')}: ${each.get('description')}`
          : '',
      )
    : []
  return [String(error.get('description')), ...parts].join(' ')
}

/** Returns the body of a successful response about schema files. `name`: of the connection. */
export function schemaBody(name: string, status: number, body: string): string {
  if (status < 300) return body
  const json = tryJson(body)
  const error = json instanceof Map ? json.get('error') : undefined
  if (status !== 400 || !(error instanceof Map))
    throw new TransferError(`${name} rejects the schema request: ${messageOf(status, body)}`)
  throw new QueryError('invalid schema', String(error.get('message')))
}

/** Returns the body of a successful response about a GraphQL schema. */
export function graphqlBody(name: string, status: number, body: string): string {
  if (status < 300) return body
  if (status !== 400)
    throw new TransferError(`${name} rejects the GraphQL schema: ${messageOf(status, body)}`)
  throw new QueryError('invalid schema', body)
}

/** Returns the message of a response from a Terrarium endpoint or from another service. */
export function messageOf(status: number, text: string): string {
  try {
    const { message, errors } = JSON.parse(text) as {
      readonly message?: string
      readonly errors?: readonly { readonly description?: string }[]
    }
    const reason = message ?? errors?.[0]?.description
    if (reason !== undefined) return `${reason} (${status})`
  } catch {
    // Not JSON: the text itself is the message.
  }
  return `status ${status} ${text.slice(0, 200)}`.trim()
}
