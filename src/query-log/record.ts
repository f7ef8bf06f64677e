// Formats a request as one line of the query log, in the format of exported logs. The protocol fixes the field names,
// their order and their types (RESPONSE_CODE is text, REQUEST_HEADERS is text that contains JSON).
//
// Facts for which the format has no field are stored separately (facts.ts). The formatting runs for every request. For
// speed, this file concatenates the line from texts, and caches the text of the headers.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Template } from '../base/message.ts'
import type { LanguageName } from '../values/code.ts'
import type { Micros } from '../values/value.ts'
import { createTimestampFormat } from './exported-record.ts'
import { type Facts, factsText, PlainShapes } from './facts.ts'

const recordLimits = {
  /** Maximum number of characters of a logged header; own limit. Longer headers are truncated. */
  loggedHeaderCharsMax: 512,
} as const

/** A finished request. */
export interface ObservedRequest {
  readonly method: string
  /** The headers by lower-case name. The header with the credential is not read. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly language: LanguageName
  readonly apiVersion: string
  /** The query as received; undefined when the request had no query. */
  readonly query: string | undefined
  readonly bytesIn: number
  /** Length of the body in bytes; 0 for a stream. */
  readonly bytesOut: number
  readonly status: number
  /** The costs; undefined when no query ran. */
  readonly costs: RequestCosts | undefined
  /**
   * The database of the request and its ancestors, outermost first, by names and ids; absent when the credential was
   * rejected.
   */
  readonly database: { readonly names: readonly string[]; readonly ids: readonly bigint[] } | undefined
  readonly tags: readonly (readonly [key: string, value: string])[]
  /** The facts stored with the record. */
  readonly facts?: Omit<Facts, 'fault'>
  /** The error, with its quoted values separated from the text: see `src/model/language.ts`. */
  readonly fault?: { readonly code: string; readonly text: Template; readonly position: Template } | undefined
  /** Lower-case hexadecimal. */
  readonly traceId: string
  readonly spanId: string
}

/** The costs of a request. The response to the query contains these numbers, too. */
interface RequestCosts {
  readonly computeOps: number
  readonly byteReadOps: number
  readonly byteWriteOps: number
  readonly queryTimeMs: number
  readonly txnRetries: number
  readonly rateLimited: readonly string[]
}

const noCosts: RequestCosts = {
  computeOps: 0,
  byteReadOps: 0,
  byteWriteOps: 0,
  queryTimeMs: 0,
  txnRetries: 0,
  rateLimited: [],
}

const noNames: readonly string[] = []
const noHoles: readonly number[] = []

/**
 * The text headers that are logged: the key in REQUEST_HEADERS, and the name of the header. {@link numbersOf} lists the
 * numeric headers. All other headers are never logged.
 */
const textHeaders = [
  ['x_forwarded_for', 'x-forwarded-for'],
  ['user_agent', 'user-agent'],
  ['runtime_env', 'x-runtime-environment'],
  ['runtime_env_os', 'x-runtime-environment-os'],
  ['runtime_nodejs_env', 'x-nodejs-version'],
  ['driver_env', 'x-driver-env'],
] as const

/** Maximum number of cached combinations of header values. Each client machine usually sends one combination. */
const knownHeadersMax = 1000
/** Combinations with more characters are not cached. */
const knownHeaderCharsMax = 2000

/** Maximum number of logged characters of a method or version. Valid methods and versions are shorter. */
const loggedWordCharsMax = 32

/** Maximum number of logged characters of the text of an error. */
const faultCharsMax = 300

/** Logged for a numeric header with an invalid number, as the format requires. */
const notANumber = '-1'

/** The functions of a language that describe queries and errors without their values: see `src/model/language.ts`. */
interface Wording {
  shape(query: string, names: readonly string[]): string
  isWord(word: string): boolean
}

type Wordings = { readonly [L in LanguageName]?: Wording }

export class RecordFormat {
  readonly #wordings: Wordings
  readonly #time = createTimestampFormat()
  readonly #shapes = new PlainShapes()
  readonly #region: string
  readonly #headers = new GenerationCache<string, string>(knownHeadersMax)
  #lastHeaders: ObservedRequest['headers'] = {}
  #lastHeaderText = '{'

  constructor(regionGroup: string, wordings: Wordings) {
    this.#wordings = wordings
    this.#region = JSON.stringify(regionGroup)
  }

  /**
   * Returns the record and the text of the facts of a request that finished at `time`. The record ends with a line
   * break.
   */
  parts(request: ObservedRequest, time: Micros): { readonly record: string; readonly facts: string } {
    const { facts, fault, language, query } = request
    const wording = this.#wordings[language]
    const names =
      facts === undefined || facts.named.length === 0 ? noNames : facts.named.map(({ name }) => name)
    const marked = query === undefined ? '' : (wording?.shape(query, names) ?? '')
    const { holes, shape } = names.length === 0 ? { holes: noHoles, shape: marked } : this.#shapes.of(marked)
    const record = this.#record(request, shape, time)
    if (facts === undefined) return { record, facts: '' }
    const isKnown = (word: string) => names.includes(word) || wording?.isWord(word) === true
    const shown = fault && {
      code: fault.code,
      text: shownText(fault.text, isKnown),
      position: shownText(fault.position, isKnown),
    }
    return { record, facts: factsText(facts, shown, holes) }
  }

  #record(request: ObservedRequest, shape: string, time: Micros): string {
    const costs = request.costs ?? noCosts
    const { headers } = request
    const version = JSON.stringify(shortened(request.apiVersion, loggedWordCharsMax))
    const method = JSON.stringify(shortened(request.method, loggedWordCharsMax))
    return `{"API_VERSION":${version},"BYTES_IN":${request.bytesIn},"BYTES_OUT":${request.bytesOut},"BYTE_READ_OPS":${costs.byteReadOps},"BYTE_WRITE_OPS":${costs.byteWriteOps},"COMPUTE_OPS":${costs.computeOps},"DATABASE":${JSON.stringify(request.database?.names ?? noNames)},"FQL_SHAPE":"${shape}","QUERY_TIME_MS":${costs.queryTimeMs},"RATE_LIMITS_HIT":${JSON.stringify(costs.rateLimited)},"REGION_GROUP":${this.#region},"REQUEST_HEADERS":"${this.#textHeaders(headers)}${numbersOf(headers)}","REQUEST_METHOD":${method},"RESPONSE_CODE":"${request.status}","TAGS":${tagsOf(request.tags)},"TRACEPARENT":"00-${request.traceId}-${request.spanId}-00","TS":"${this.#time(Math.floor(time / 1000))}","TXN_RETRIES":${costs.txnRetries}}\n`
  }

  /**
   * Returns the text headers as the start of an object inside a JSON string, without the closing brace: `{\"a\":\"b\"`.
   */
  #textHeaders(headers: ObservedRequest['headers']): string {
    const last = this.#lastHeaders
    // Property accesses with constant names are several times faster than a loop.
    const isSame =
      headers['user-agent'] === last['user-agent'] &&
      headers['x-forwarded-for'] === last['x-forwarded-for'] &&
      headers['x-driver-env'] === last['x-driver-env'] &&
      headers['x-runtime-environment'] === last['x-runtime-environment'] &&
      headers['x-runtime-environment-os'] === last['x-runtime-environment-os'] &&
      headers['x-nodejs-version'] === last['x-nodejs-version']
    if (!isSame) {
      this.#lastHeaders = headers
      this.#lastHeaderText = this.#knownHeaders(headers)
    }
    return this.#lastHeaderText
  }

  #knownHeaders(headers: ObservedRequest['headers']): string {
    let key = ''
    for (const [, header] of textHeaders) {
      const value = headers[header]
      key += value === undefined ? '\n' : `${value}\n`
    }
    const known = this.#headers.get(key)
    if (known !== undefined) return known
    const present: Record<string, string> = {}
    for (const [name, header] of textHeaders) {
      const value = headers[header]
      if (value !== undefined) present[name] = shortened(String(value), recordLimits.loggedHeaderCharsMax)
    }
    const text = JSON.stringify(JSON.stringify(present)).slice(1, -2)
    if (key.length <= knownHeaderCharsMax) this.#headers.set(key, text)
    return text
  }
}

/** Returns the text of an error. Each quoted value that contains an unknown word is replaced by `?`. */
function shownText({ pieces, quoted }: Template, isKnown: (word: string) => boolean): string {
  let text = pieces[0] ?? ''
  for (const [at, each] of quoted.entries()) text += (isShown(each, isKnown) ? each : '?') + pieces[at + 1]
  return text.slice(0, faultCharsMax)
}

/**
 * Returns whether a quoted value consists of known words, such as the name of a type. A number is never a known word.
 */
function isShown(quoted: string, isKnown: (word: string) => boolean): boolean {
  if (quoted.length > faultCharsMax) return false
  const words = quoted.match(/[^\s,|'"`]+/g) ?? []
  return isKnown(quoted) || (words.length > 0 && words.every(isKnown))
}

function shortened(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`
}

/** Returns the numeric headers, and closes the object that {@link RecordFormat} has begun. */
function numbersOf(headers: ObservedRequest['headers']): string {
  const text =
    numberOf('x_max_retries', headers['x-max-retries-on-contention']) +
    numberOf('x_query_timeout', headers['x-query-timeout']) +
    numberOf('last_seen_txn', headers['x-last-seen-txn'])
  if (text === '') return '}'
  const isFirst = textHeaders.every(([, header]) => headers[header] === undefined)
  return `${isFirst ? text.slice(1) : text}}`
}

function numberOf(name: string, value: string | readonly string[] | undefined): string {
  if (value === undefined) return ''
  return `,\\"${name}\\":${typeof value === 'string' && isPlainInteger(value) ? value : notANumber}`
}

/** Returns whether a text is an integer in JSON syntax of at most 16 digits, the length of a transaction time. */
function isPlainInteger(text: string): boolean {
  if (text.length > 16 || (text.length > 1 && text.charCodeAt(0) === 0x30)) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return text !== ''
}

/** Keys and values are words (the HTTP layer rejects others), so nothing needs escaping. */
function tagsOf(tags: ObservedRequest['tags']): string {
  if (tags.length === 0) return '{}'
  let text = '{'
  for (const [key, value] of tags) text += `${text === '{' ? '' : ','}"${key}":"${value}"`
  return `${text}}`
}
