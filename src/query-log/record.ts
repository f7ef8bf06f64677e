// Formats a request as one line of the query log, in the format of exported logs. The protocol fixes the field names,
// their order and their types (RESPONSE_CODE is text, REQUEST_HEADERS is text that contains JSON).
//
// Facts for which the format has no field are stored separately (facts.ts). The formatting runs for every request. For
// speed, this file concatenates the line from texts, and caches the texts that are repeated.

import { GenerationCache } from '../base/generation-cache.ts'
import type { Template } from '../base/message.ts'
import type { LanguageName } from '../values/code.ts'
import type { Micros } from '../values/value.ts'
import { createTimestampFormat } from './exported-record.ts'
import { type Facts, FactsFormat, PlainShapes } from './facts.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
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

/** A conversion that caches its last result, because consecutive inputs are mostly the same. */
class LastText {
  readonly #make: (of: string) => string
  #of: string | undefined
  #text = ''

  constructor(make: (of: string) => string) {
    this.#make = make
  }

  of(text: string): string {
    if (text !== this.#of) {
      this.#of = text
      this.#text = this.#make(text)
    }
    return this.#text
  }
}

/** Formats records for one region group. */
export class RecordFormat {
  readonly #wordings: Wordings
  readonly #time = createTimestampFormat()
  readonly #facts = new FactsFormat()
  readonly #shapes = new PlainShapes()
  // Repeated parts of records, with the text around them.
  readonly #begin = new LastText(version => `{"API_VERSION":${JSON.stringify(version)},"BYTES_IN":`)
  readonly #method = new LastText(method => `","REQUEST_METHOD":${JSON.stringify(method)},"RESPONSE_CODE":"`)
  readonly #limitsHit: LastText
  readonly #headers = new GenerationCache<string, string>(knownHeadersMax)
  #lastNames: readonly string[] = []
  #lastDatabase = '[]'
  #lastHeaders: ObservedRequest['headers'] = {}
  #lastHeaderText = '{'

  constructor(regionGroup: string, wordings: Wordings) {
    this.#wordings = wordings
    const region = JSON.stringify(regionGroup)
    this.#limitsHit = new LastText(
      limitsHit => `,"RATE_LIMITS_HIT":${limitsHit},"REGION_GROUP":${region},"REQUEST_HEADERS":"`,
    )
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
    return { record, facts: this.#facts.text(facts, shown, holes) }
  }

  #record(request: ObservedRequest, shape: string, time: Micros): string {
    const costs = request.costs ?? noCosts
    const { headers } = request
    const limitsHit = costs.rateLimited.length === 0 ? '[]' : JSON.stringify(costs.rateLimited)
    const begin = this.#begin.of(shortened(request.apiVersion, loggedWordCharsMax))
    const method = this.#method.of(shortened(request.method, loggedWordCharsMax))
    return `${begin}${request.bytesIn},"BYTES_OUT":${request.bytesOut},"BYTE_READ_OPS":${costs.byteReadOps},"BYTE_WRITE_OPS":${costs.byteWriteOps},"COMPUTE_OPS":${costs.computeOps},"DATABASE":${this.#database(request.database?.names ?? noNames)},"FQL_SHAPE":"${shape}","QUERY_TIME_MS":${costs.queryTimeMs}${this.#limitsHit.of(limitsHit)}${this.#textHeaders(headers)}${numbersOf(headers)}${method}${request.status}","TAGS":${tagsOf(request.tags)},"TRACEPARENT":"00-${request.traceId}-${request.spanId}-00","TS":"${this.#time(Math.floor(time / 1000))}","TXN_RETRIES":${costs.txnRetries}}\n`
  }

  /** Returns names as JSON. Caches the last result, because consecutive requests mostly have the same database. */
  #database(names: readonly string[]): string {
    const last = this.#lastNames
    if (names.length !== last.length || !names.every((name, level) => name === last[level])) {
      this.#lastNames = names
      this.#lastDatabase = JSON.stringify(names)
    }
    return this.#lastDatabase
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
