// Sends requests with `fetch` only, so that the client runs in every runtime. Retries requests that certainly changed
// nothing. A request whose response was lost may have been executed, so it is retried only if the caller declares it
// repeatable.

import {
  AuthenticationError,
  ClientTimeoutError,
  errorOf,
  NetworkError,
  ProtocolError,
  type ResponseInfo,
  type ServiceError,
  type Stats,
  type WireError,
} from './errors.ts'
import type { Json } from './format.ts'

/** See {@link ClientOptions}. */
export interface TransportOptions {
  readonly url: string
  readonly secret: string
  readonly retries: number
  readonly fetch: typeof fetch
}

export interface Request {
  readonly path: string
  /** A value that is sent as JSON, or the files of a form. */
  readonly body: Json | FormData
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
  /** Milliseconds until a response must be complete; undefined for streams, which have no end. */
  readonly waitMs: number | undefined
  /** True if the request is sent again even if the service may have executed it. */
  readonly isRepeatable: boolean
}

/** The body of a response to a query, a feed or a push of schema files. */
export interface ResponseBody {
  readonly data?: Json
  readonly error?: Partial<WireError>
  readonly summary?: string
  readonly txn_ts?: number
  readonly schema_version?: number
  readonly stats?: Readonly<Record<string, unknown>>
  readonly query_tags?: string
  readonly events?: readonly WireEvent[]
  readonly cursor?: string
  readonly has_next?: boolean
  readonly version?: number
}

/** An event of a feed or stream. */
export interface WireEvent {
  readonly type: 'add' | 'update' | 'remove' | 'status' | 'error'
  readonly data?: Json
  readonly txn_ts?: number
  readonly cursor?: string
  readonly stats?: Readonly<Record<string, unknown>>
  readonly error?: WireError
}

/** The result of a request. */
interface Reply {
  readonly body: ResponseBody
  /** How often the request was sent. */
  readonly attempts: number
}

/**
 * HTTP statuses which mean that the request changed nothing: contention, a rate limit, or (503 with `retry-after`) a
 * service that is starting.
 */
const retriedStatuses = [409, 429, 503]
/** Error codes of Node for connections that could not be established. */
const unconnected = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

const firstDelayMs = 50
/** Maximum delay in milliseconds, even if the service requests a longer delay. */
const delayMsMax = 20_000

/**
 * Returns a random delay in milliseconds. `failures`: the number of consecutive failures. Because the delay is random,
 * clients that failed at the same time retry at different times.
 */
export function delayMs(failures: number): number {
  return Math.random() * Math.min(firstDelayMs * 2 ** failures, delayMsMax)
}

/** Sends a request and parses the JSON of the response. Throws a `TerrariumError`, or the reason of the signal. */
export async function send(request: Request, options: TransportOptions): Promise<Reply> {
  for (let attempts = 1; ; attempts++) {
    const isLast = attempts > options.retries
    let delay: number | undefined
    try {
      const response = await open(request, options)
      const body = await readBody(response, request)
      if (response.ok && isResult(body)) return { body, attempts }
      const error = errorOfResponse(response, body)
      delay = isLast ? undefined : retryDelayMs(response, error, attempts)
      if (delay === undefined) throw error
    } catch (cause) {
      if (!(cause instanceof NetworkError) || isLast || !(request.isRepeatable || wasNeverSent(cause)))
        throw cause
      delay = delayMs(attempts)
    }
    await pause(delay, request.signal)
  }
}

/** Resolves when the headers of the response have arrived. */
export async function open(request: Request, { url, secret, fetch }: TransportOptions): Promise<Response> {
  const { body, path, headers, waitMs, signal } = request
  // `fetch` sets the content type of a form, because it contains the boundary between the files.
  const isForm = body instanceof FormData
  try {
    return await fetch(new URL(path, url.endsWith('/') ? url : `${url}/`).href, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        ...(!isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isForm ? body : JSON.stringify(body),
      signal: limited(signal, waitMs) ?? null,
    })
  } catch (cause) {
    throw networkErrorOf(cause, url, request)
  }
}

function limited(signal: AbortSignal | undefined, waitMs: number | undefined): AbortSignal | undefined {
  if (waitMs === undefined) return signal
  const timeout = AbortSignal.timeout(waitMs)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

function networkErrorOf(cause: unknown, url: string, { signal, waitMs }: Request): unknown {
  if (signal?.aborted) return signal.reason
  if ((cause as Error).name === 'TimeoutError')
    return new ClientTimeoutError(`${url} did not respond within ${waitMs} ms`, { cause })
  return new NetworkError(`${url} cannot be reached: ${reasonOf(cause)}`, { cause })
}

/** Node reports the reason of a failed `fetch` in the `cause` of the error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: Error }
  return cause?.message || message
}

function wasNeverSent({ cause }: NetworkError): boolean {
  const { cause: reason } = cause as { readonly cause?: { readonly code?: string } }
  return unconnected.includes(reason?.code ?? '')
}

async function readBody(response: Response, request: Request): Promise<ResponseBody> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    throw networkErrorOf(cause, response.url, request)
  }
  try {
    const body = JSON.parse(text) as unknown
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // The caller reports the invalid body, with the status.
  }
  return {}
}

/** A query returns `data`, a feed `cursor`, a push of schema files `version`. */
function isResult({ cursor, data, error, version }: ResponseBody): boolean {
  return error === undefined && [cursor, data, version].some(member => member !== undefined)
}

/** Codes of errors by status. Errors of schema files have only a message. */
const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  403: 'forbidden',
  409: 'contended_transaction',
  429: 'limit_exceeded',
  500: 'internal_error',
}

/** Returns the error of a response without a result. */
export function errorOfResponse({ status, url }: Response, body: ResponseBody): ServiceError | ProtocolError {
  const { code = codes[status], message } = body.error ?? {}
  if (code !== undefined && message !== undefined)
    return errorOf({ ...body.error, code, message }, status, infoOf(body))
  if (status === 401)
    return new AuthenticationError(
      { code: 'unauthorized', message: 'Access token required' },
      status,
      infoOf(body),
    )
  return new ProtocolError(`${url} responded with status ${status} and no result of a query`, status)
}

/** Milliseconds before a rejected request is retried; undefined if a retry would not help. */
function retryDelayMs(response: Response, error: Error, attempts: number): number | undefined {
  const { status } = response
  if (!retriedStatuses.includes(status)) return undefined
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  // A service that is starting sends `retry-after` with status 503. A query that exceeded its time limit also gets 503,
  // and would exceed the limit again.
  if (status === 503 && (Number.isNaN(seconds) || !(error instanceof ProtocolError))) return undefined
  return Number.isNaN(seconds) ? delayMs(attempts) : Math.min(seconds * 1000, delayMsMax)
}

/** Rejects with the reason of the signal. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

export function infoOf(body: ResponseBody): ResponseInfo {
  return {
    summary: body.summary ?? '',
    txnTs: body.txn_ts,
    schemaVersion: body.schema_version,
    stats: statsOf(body.stats),
    tags: tagsOf(body.query_tags),
  }
}

/** Counters with names in camel case: `readOps` for `read_ops`. */
export function statsOf(stats: Readonly<Record<string, unknown>> = {}): Stats {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(Object.entries(stats).map(([name, value]) => [camel(name), value]))
}

function tagsOf(text = ''): Readonly<Record<string, string>> {
  if (text === '') return {}
  return Object.fromEntries(text.split(',').map(pair => pair.split('=', 2)))
}
