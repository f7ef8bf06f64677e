// Checks the request headers that set options of the evaluation, such as the time limit, on every path and before all
// other checks. The protocol defines the names and the defaults of these headers, the order of the checks, and the
// texts of the errors. Only the first invalid header is reported.

import type { IncomingHttpHeaders } from 'node:http'
import { limits } from '../../base/limits.ts'
import { type Message, msg, own } from '../../base/message.ts'
import { nearestMicros } from '../../base/micros.ts'
import { apiVersions, defaultApiVersion } from '../../fql4/wire/version.ts'
import { int64Max, int64Min } from '../../values/value.ts'
import { errorBody } from './answer.ts'
import type { Protocol, RequestSettings } from './protocol.ts'

const requestHeadersLimits = {
  /** Maximum number of milliseconds that a request may set as the time limit of its query. */
  queryTimeoutMaxMs: 600_000,
  /** Maximum number of retries that the header `x-max-retries-on-contention` may request. */
  contentionRetriesMax: 7,
} as const

const transactionHeaders: TransactionHeaders = {
  lastSeen: 'x-last-seen-txn',
  // The Python driver sends this value when it opens a stream before its first query.
  nothingSeen: 'None',
  timeout: 'x-query-timeout',
  retries: 'x-max-retries-on-contention',
}

const knownVersions: ReadonlySet<string> = new Set(apiVersions)

/** Returns the error of the first invalid header. */
function readSettings(headers: IncomingHttpHeaders): RequestSettings | Message {
  const apiVersion = headers['x-faunadb-api-version'] as string | undefined
  if (apiVersion !== undefined && !knownVersions.has(apiVersion)) {
    return invalidHeader('x-faunadb-api-version', msg`Unsupported or invalid API version '${apiVersion}'.`)
  }
  return readTransaction(headers, transactionHeaders, apiVersion ?? defaultApiVersion)
}

/** Names that differ between the query languages. */
interface TransactionHeaders {
  readonly lastSeen: string
  /** A value of the header `lastSeen` that has the same effect as no header. */
  readonly nothingSeen?: string
  readonly timeout: string
  readonly retries: string
}

/** Returns the error of the first invalid header. */
export function readTransaction(
  headers: IncomingHttpHeaders,
  names: TransactionHeaders,
  dialect: string,
): RequestSettings | Message {
  const header = (name: string) => headers[name] as string | undefined
  const lastSeen = header(names.lastSeen)
  const hasSeen = lastSeen !== undefined && lastSeen !== names.nothingSeen
  const lastSeenTxn = hasSeen ? parseInteger(lastSeen) : undefined
  if (hasSeen && lastSeenTxn === undefined) {
    return invalidHeader(names.lastSeen, msg`Invalid timestamp '${lastSeen}'.`)
  }
  const timeout = header(names.timeout)
  const timeoutMs = timeout === undefined ? limits.queryTimeoutDefaultMs : parseInteger(timeout)
  const timeoutFault = timeoutFaultOf(timeoutMs, timeout)
  if (timeoutFault !== undefined) return invalidHeader(names.timeout, timeoutFault)
  const retries = header(names.retries)
  const retriesFault = retries === undefined ? undefined : retriesFaultOf(retries)
  if (retriesFault !== undefined) return invalidHeader(names.retries, retriesFault)
  return {
    dialect,
    lastSeenTxn: lastSeenTxn === undefined ? undefined : nearestMicros(lastSeenTxn),
    retriesMax: retries === undefined ? undefined : parseInteger(retries),
    timeoutMs: timeoutMs as number,
  }
}

/** Endpoints that belong to no query language use this protocol, too. */
export const version4Protocol: Protocol = {
  language: '4',
  queryPath: '/',
  queryMethods: ['GET', 'POST'],
  readSettings,
  tagHeader: 'x-fauna-tags',
  hasQueryHeaders: true,
  errorBody,
}

export function invalidHeader(name: string, reason: Message): Message {
  return msg`Invalid header '${own(name)}': ${reason}`
}

/** True for curl and HTTPie, or if a header requests an indented body. */
export function wantsPrettyBody(headers: IncomingHttpHeaders): boolean {
  const agent = headers['user-agent']
  return (
    headers['x-faunadb-formatted-json'] !== undefined ||
    (agent !== undefined && (agent.includes('curl') || agent.includes('HTTPie')))
  )
}

function timeoutFaultOf(timeoutMs: number | undefined, text: string | undefined): Message | undefined {
  if (timeoutMs === undefined) return msg`Invalid number '${text}'.`
  if (timeoutMs <= 0) return msg`Must be greater than 0.`
  if (timeoutMs > requestHeadersLimits.queryTimeoutMaxMs) {
    return msg`Must be less than or equal to ${own(requestHeadersLimits.queryTimeoutMaxMs)}.`
  }
  return undefined
}

function retriesFaultOf(text: string): Message | undefined {
  const retries = parseInteger(text)
  if (retries === undefined) return msg`Invalid number '${text}'.`
  if (retries < 0 || retries > requestHeadersLimits.contentionRetriesMax) {
    return msg`Must be between 0 and ${own(requestHeadersLimits.contentionRetriesMax)}.`
  }
  return undefined
}

/** Decimal digits of the largest 64-bit integer. */
const int64Digits = 19

/**
 * Parses a signed 64-bit decimal integer; undefined for other texts. Values beyond 2^53 lose their last digits, which
 * does not matter: they are only compared with limits and times that are far smaller.
 */
function parseInteger(text: string): number | undefined {
  const first = text.charCodeAt(0)
  const start = first === 0x2d || first === 0x2b ? 1 : 0
  if (text.length === start) return undefined
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return undefined
  }
  if (text.length - start >= int64Digits) {
    const exact = first === 0x2b ? BigInt(text.slice(1)) : BigInt(text)
    if (exact > int64Max || exact < int64Min) return undefined
  }
  return Number(text)
}
