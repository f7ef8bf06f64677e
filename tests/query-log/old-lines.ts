// Formats requests as lines, as version 0.2 wrote them. Tests compare exports of the present format with these lines, and
// write segments of 0.2 with them.

import type { Template } from '../../src/base/message.ts'
import { createTimestampFormat } from '../../src/query-log/exported-record.ts'
import type { Facts, LogCaller } from '../../src/query-log/facts.ts'
import { trailOf } from '../../src/query-log/ownership.ts'
import type { LanguageName } from '../../src/values/code.ts'
import { anyMark, markedName } from '../../src/values/names.ts'
import type { Micros } from '../../src/values/value.ts'

/** Maximum number of characters of a logged header. */
const headerCharsMax = 512

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

/** Formats lines for one region group. */
export class LineFormat {
  readonly #wordings: Wordings
  readonly #time = createTimestampFormat()
  readonly #region: string

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
    const { holes, shape } = names.length === 0 ? { holes: noHoles, shape: marked } : plainShape(marked)
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
    return `{"API_VERSION":${version},"BYTES_IN":${request.bytesIn},"BYTES_OUT":${request.bytesOut},"BYTE_READ_OPS":${costs.byteReadOps},"BYTE_WRITE_OPS":${costs.byteWriteOps},"COMPUTE_OPS":${costs.computeOps},"DATABASE":${JSON.stringify(request.database?.names ?? noNames)},"FQL_SHAPE":"${shape}","QUERY_TIME_MS":${costs.queryTimeMs},"RATE_LIMITS_HIT":${JSON.stringify(costs.rateLimited)},"REGION_GROUP":${this.#region},"REQUEST_HEADERS":"${textsOf(headers)}${numbersOf(headers)}","REQUEST_METHOD":${method},"RESPONSE_CODE":"${request.status}","TAGS":${tagsOf(request.tags)},"TRACEPARENT":"00-${request.traceId}-${request.spanId}-00","TS":"${this.#time(Math.floor(time / 1000))}","TXN_RETRIES":${costs.txnRetries}}\n`
  }
}

/** Returns the text headers as the start of an object inside a JSON string, without the closing brace. */
function textsOf(headers: ObservedRequest['headers']): string {
  const present: Record<string, string> = {}
  for (const [name, header] of textHeaders) {
    const value = headers[header]
    if (value !== undefined) present[name] = shortened(String(value), headerCharsMax)
  }
  return JSON.stringify(JSON.stringify(present)).slice(1, -2)
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

/** Returns the numeric headers, and closes the object that {@link textsOf} has begun. */
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

const kindLetters = { collection: 'c', index: 'i', function: 'f' } as const

/** Maximum number of characters of a stored address or identity. */
const keptCharsMax = 200

/** Returns the text of the facts in a line. `holes`: see {@link PlainShape}. */
function factsText(
  { address, caller, commitTime, endpoint, isSlow, named }: Omit<Facts, 'fault'>,
  fault: Facts['fault'],
  holes: readonly number[],
): string {
  const text = `[${who(caller, address)},"${endpoint}",${isSlow ? 1 : 0}`
  if (named.length === 0 && fault === undefined && commitTime === undefined) return `${text}]`
  const names = JSON.stringify(named.map(({ kind, name }) => kindLetters[kind] + name))
  const use = `${withoutBraces(names)},[${holes.join()}]`
  if (commitTime !== undefined) return `${text},${use},${faultText(fault)},${commitTime}]`
  return fault === undefined ? `${text},${use}]` : `${text},${use},${faultText(fault)}]`
}

function faultText(fault: Facts['fault']): string {
  if (fault === undefined) return 'null'
  return withoutBraces(JSON.stringify([fault.code, fault.text, fault.position]))
}

function who(caller: LogCaller | undefined, address: string): string {
  const credential = caller?.credential ?? ''
  const parts = [credential, caller?.roles.join() ?? '', cut(caller?.identity ?? ''), cut(address)]
  return withoutBraces(parts.map(each => JSON.stringify(each)).join())
}

function cut(text: string): string {
  return text.length > keptCharsMax ? `${text.slice(0, keptCharsMax)}…` : text
}

/** Escapes opening braces. */
function withoutBraces(json: string): string {
  return json.includes('{') ? json.replaceAll('{', '\\u007b') : json
}

/**
 * The shape of a query: its text without values, and with `?` in place of each name. `holes`: two numbers for each
 * name, the position of its `?` in the shape and its index in `named`.
 */
interface PlainShape {
  readonly shape: string
  readonly holes: readonly number[]
}

/** Removes the marks from a shape. `marked`: the shape as a JSON string without the quotes. */
function plainShape(marked: string): PlainShape {
  const holes: number[] = []
  const shape = marked.replace(anyMark, (mark, place: number) => {
    holes.push(place, markedName(mark.charCodeAt(0)) as number)
    return '?'
  })
  return { shape, holes }
}

/** The text before a record in a line: the trail of its database, and the facts. */
export function beforeRecordOf(database: ObservedRequest['database'], facts: string): string {
  return (database === undefined ? '-' : trailOf(database.ids)) + facts
}
