// Sends queries to a service over HTTP, as a driver does.

import { ResponseLimitError, responseText } from '../../base/response-text.ts'
import { networkFailure } from '../../base/system-reasons.ts'
import { memberOf } from '../../transfer/references.ts'
import { SchemaResponse } from '../../transfer/schema-response.ts'
import { tryJson } from '../../values/json.ts'
import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import { CommandError } from '../command.ts'

/** An error in the form in which the service returns it. */
export interface WireError {
  readonly code: string
  readonly description: string
  /** Path to the part of the query that the error concerns; empty when the error concerns the whole query. */
  readonly position: readonly (string | number)[]
  readonly failures: readonly { readonly field: readonly string[]; readonly text: string }[]
  /** Errors inside a called user function. Their positions refer to its body. */
  readonly cause: readonly WireError[]
}

/** `body`: the original text of the response. */
export type Reply =
  | { readonly kind: 'resource'; readonly resource: Json; readonly body: string }
  | { readonly kind: 'errors'; readonly errors: readonly WireError[]; readonly body: string }

interface TextReply {
  /** A text in the decorated format, JSON in other formats. */
  readonly data: string
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** Errors, warnings, log messages and hints, each with an excerpt of the query. */
  readonly summary: string
  readonly body: string
}

/** Limits the rights of the secret to a database below its own, and to a role or document. */
export interface QueryScope {
  /** Names from the outermost to the innermost below the database of the secret, joined by `/`. */
  readonly database: string | undefined
  /** `admin`, `server`, `server-readonly`, `client`, `@role/NAME` or `@doc/COLLECTION/ID`. */
  readonly as: string | undefined
}

interface ConnectionOptions {
  readonly url: string
  readonly secret: string
  readonly scope: QueryScope
  /** Milliseconds for a query. If undefined, the limit of the service applies. */
  readonly timeoutMs: number | undefined
  readonly onClose?: () => Promise<void>
}

interface Response {
  readonly url: string
  readonly status: number
  readonly body: string
}

/** The API version of queries of version 4. */
const apiVersion = '4'

/** Thrown when the schema has changed since the version in a request. */
export class SchemaConflictError extends CommandError {}

export class QueryConnection {
  readonly #options: ConnectionOptions

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  get scope(): QueryScope {
    return this.#options.scope
  }

  /** Shares the service. Callers close only the original connection. */
  with(change: Partial<Pick<ConnectionOptions, 'secret' | 'scope'>>): QueryConnection {
    return new QueryConnection({ ...this.#options, ...change })
  }

  /** Throws {@link CommandError} with the reason if the service rejects the credential. */
  async check(): Promise<void> {
    if (!(await this.#isAccepted())) throw new CommandError(await this.#rejectionReason())
  }

  async #isAccepted(): Promise<boolean> {
    return (await this.#send('', { method: 'POST', body: '0' })).status !== 401
  }

  /** Tries each part of the credential, because the service tells unauthenticated clients no reason. */
  async #rejectionReason(): Promise<string> {
    const { scope, url } = this.#options
    const { as, database } = scope
    const accepts = (databasePath: string | undefined) =>
      this.with({ scope: { database: databasePath, as: undefined } }).#isAccepted()
    if (!(await accepts(undefined))) return `${url} does not know the secret`
    const names = database?.split('/') ?? []
    for (const depth of names.keys()) {
      const path = names.slice(0, depth + 1).join('/')
      if (!(await accepts(path))) return `there is no database ${path}, or the secret may not open it`
    }
    return `${as} does not exist${database === undefined ? '' : ` in ${database}`}, or the secret may not act as ${as}`
  }

  /**
   * Errors of the query are part of the reply. Throws {@link CommandError} for an unreachable service, an invalid
   * response or a rejected credential, and an `AbortError` when `signal` aborts the wait.
   */
  async query(query: Json, signal?: AbortSignal): Promise<Reply> {
    const headers = { 'x-faunadb-api-version': apiVersion, ...this.#timeoutAs('x-query-timeout') }
    const { body, status, url } = await this.#post('', query, headers, signal)
    return readReply(status, body, url)
  }

  /** Runs a query of version 10. Throws like {@link query}. */
  async queryText(text: string, format: 'decorated' | 'simple', signal?: AbortSignal): Promise<TextReply> {
    return this.#queryText(text, format, {}, signal)
  }

  /**
   * Runs a query of version 10 that a command has written, without a check of its types: its text is known to be
   * correct, and it also runs in databases whose schema has type errors. Throws like {@link query}.
   */
  ownQuery(text: string): Promise<TextReply> {
    return this.#queryText(text, 'simple', { 'x-typecheck': 'false' })
  }

  async #queryText(
    text: string,
    format: 'decorated' | 'simple',
    more: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<TextReply> {
    const headers = { 'x-format': format, ...more, ...this.#timeoutAs('x-query-timeout-ms') }
    const { body, url } = await this.#post('query/1', new Map([['query', text]]), headers, signal)
    return readTextReply(body, url, format)
  }

  /**
   * Returns the explanation of a query in either language: its result or its errors, and its reads. The reply has the
   * kind `errors` only if the service rejects the request. Throws like {@link query}.
   */
  async explain(query: Json): Promise<Reply> {
    const headers = this.#timeoutAs('x-query-timeout')
    const { body, status, url } = await this.#post(
      'api/v1/explain',
      new Map([['query', query]]),
      headers,
      undefined,
    )
    return readReply(status, body, url)
  }

  /**
   * Sends a request, possibly with files, to a path below `/schema/1/`. Throws {@link SchemaConflictError}, and {@link
   * CommandError} with the service's error.
   */
  async schema(
    method: 'GET' | 'POST',
    path: string,
    files?: ReadonlyMap<string, string>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<SchemaResponse> {
    const form = new FormData()
    for (const [name, text] of files ?? []) form.append(name, new Blob([text]))
    const request = { method, headers, ...(files && { body: form }) }
    const { body, status, url } = await this.#sendAccepted(`schema/1/${path}`, request)
    if (status === 200) return SchemaResponse.of(url, body)
    const message = messageIn(body) ?? `${url} responded with status ${status}`
    throw status === 409 ? new SchemaConflictError(message) : new CommandError(message)
  }

  /** Returns the reason if the service rejects the schema. Throws {@link CommandError}. */
  async importGraphql(text: string, mode: string): Promise<string | undefined> {
    const { body, status, url } = await this.#sendAccepted(`import?mode=${mode}`, {
      method: 'POST',
      body: text,
    })
    if (status === 200) return undefined
    if (status === 400 || status === 403) return body
    throw new CommandError(`${url} responded with status ${status}: ${body}`)
  }

  #timeoutAs(header: string): Readonly<Record<string, string>> {
    const { timeoutMs } = this.#options
    return timeoutMs === undefined ? {} : { [header]: String(timeoutMs) }
  }

  #post(
    path: string,
    body: Json,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const type = { 'content-type': 'application/json' }
    const request = { method: 'POST', body: writeJson(body), headers: { ...type, ...headers } }
    return this.#sendAccepted(path, { ...request, signal: signal ?? null })
  }

  /** Throws {@link CommandError} when the credential is rejected. */
  async #sendAccepted(path: string, request: RequestInit): Promise<Response> {
    const response = await this.#send(path, request)
    if (response.status === 401) throw new CommandError(await this.#rejectionReason())
    return response
  }

  async #send(path: string, request: RequestInit): Promise<Response> {
    const { url: base } = this.#options
    const url = path === '' ? base : new URL(path, `${base.replace(/\/$/, '')}/`).href
    const headers = new Headers(request.headers)
    headers.set('authorization', `Bearer ${this.#credential()}`)
    try {
      const response = await fetch(url, { ...request, headers })
      return { url, status: response.status, body: await responseText(response) }
    } catch (cause) {
      if (request.signal?.aborted) throw cause
      if (cause instanceof ResponseLimitError)
        throw new CommandError(`${url} cannot be used: ${cause.message}`)
      throw new CommandError(`${url} cannot be reached: ${networkFailure(cause).reason}`)
    }
  }

  /** Stops the service that was started for the connection, if any. */
  async close(): Promise<void> {
    await this.#options.onClose?.()
  }

  #credential(): string {
    const { secret, scope } = this.#options
    const parts = [secret]
    if (scope.database !== undefined) parts.push(scope.database, scope.as ?? 'admin')
    else if (scope.as !== undefined) parts.push(scope.as)
    return parts.join(':')
  }
}

/** Reads the message of an error in the format of version 10. */
function messageIn(body: string): string | undefined {
  const message = memberOf(tryJson(body), 'error', 'message')
  return typeof message === 'string' ? message : undefined
}

function readReply(status: number, body: string, url: string): Reply {
  const json = tryJson(body)
  const resource = memberOf(json, 'resource')
  if (resource !== undefined) return { kind: 'resource', resource, body }
  const errors = memberOf(json, 'errors')
  if (!Array.isArray(errors)) {
    throw new CommandError(`${url} is not a Terrarium service: it responded with status ${status}`)
  }
  return { kind: 'errors', errors: errors.map(readError), body }
}

function readTextReply(body: string, url: string, format: 'decorated' | 'simple'): TextReply {
  const json = tryJson(body)
  if (!(json instanceof Map) || !(json.has('data') || json.has('error'))) {
    throw new CommandError(`${url} is not a Terrarium service`)
  }
  const summary = json.get('summary')
  const error = json.get('error')
  const data = json.get('data')
  return {
    data:
      format === 'decorated' && typeof data === 'string' ? data : data === undefined ? '' : writeJson(data),
    error:
      error instanceof Map
        ? { code: String(error.get('code')), message: String(error.get('message')) }
        : undefined,
    summary: typeof summary === 'string' ? summary : '',
    body,
  }
}

function readError(json: Json): WireError {
  return {
    code: String(memberOf(json, 'code') ?? ''),
    description: String(memberOf(json, 'description') ?? ''),
    position: listAt(json, 'position').map(step => (typeof step === 'string' ? step : Number(step))),
    failures: listAt(json, 'failures').map(failure => {
      const text = [memberOf(failure, 'code'), memberOf(failure, 'description')].filter(Boolean).join(': ')
      return { field: listAt(failure, 'field').map(String), text }
    }),
    cause: listAt(json, 'cause').map(readError),
  }
}

/** Returns an empty list if the member is no array. */
export function listAt(json: Json, name: string): readonly Json[] {
  const member = memberOf(json, name)
  return Array.isArray(member) ? member : []
}
