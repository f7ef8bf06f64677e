// Writes a record of each finished request into a block of the current segment. The recording runs for every request, so
// it creates few objects. The table of texts (text-table.ts) numbers all texts, so a record contains only numbers, and a
// text of earlier requests is not written again. The record is formatted only when an export, a search or a chart reads it
// (stored-record.ts).

import { assert } from '../base/assert.ts'
import { beginningOfJson } from '../base/json-encoding.ts'
import type { Template } from '../base/message.ts'
import type { LanguageName } from '../values/code.ts'
import { type DatabaseId, type Micros, rootDatabase } from '../values/value.ts'
import { errorText } from './error-text.ts'
import type { LogCaller, NamedObject } from './facts.ts'
import { trailOf } from './ownership.ts'
import { numericHeader, recordFlag, textHeaders, traceBytes } from './segment-format.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { LostRecord, TextTable } from './text-table.ts'
import { varintBytesMax, writeVarint } from './varint.ts'

/** Limits of this file; docs/reference/limits.md lists all. An "own limit" is not part of the protocol. */
const recordLimits = {
  /** Maximum number of characters of a logged header; own limit. Longer headers are truncated. */
  loggedHeaderCharsMax: 512,
} as const

/** Maximum number of logged characters of a method or API version. Valid ones are shorter. */
const loggedWordCharsMax = 32

/** Maximum number of logged characters of an address or identity. */
const loggedCharsMax = 200

/**
 * The query log records the shape of a query: its text without values. For a long query, only the first characters are
 * used for the shape. This number of bytes is enough for these characters, even at four bytes for each character.
 */
const shapedBytes = 270_000

/** Estimated bytes of the numbers of a record. */
const numbersBytes = 100
/** Maximum of the estimated bytes of a query's shape. */
const shapeBytesMax = 2048

/** Upper bound of the number of integers in a record after its time. */
const fieldsMax = 40
const recordBytesMax = 1 + (1 + fieldsMax) * varintBytesMax + traceBytes

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The parts of a request that are recorded. */
export interface RecordedCall {
  readonly request: {
    readonly method: string
    /** Headers by lower-case name. The header with the credential is not read. */
    readonly headers: Headers
    readonly client: string
  }
  readonly protocol: { readonly language: LanguageName }
  readonly settings: { readonly dialect: string } | undefined
  readonly endpoint: { readonly path: string } | undefined
  /** The query as received; undefined when the request had no query, or has a long body. */
  readonly body: string | undefined
  readonly longBody: { joined(bytes: number): Buffer } | undefined
  readonly bytesIn: number
  readonly tags: readonly (readonly [key: string, value: string])[]
  /** Lower-case hexadecimal. */
  readonly trace: { readonly traceId: string; readonly spanId: string }
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

/** The database of a request and its ancestors, outermost first. */
interface Place {
  readonly names: readonly string[]
  readonly ids: readonly DatabaseId[]
}

/** The parts of the answer to a request that are recorded. */
export interface RecordedAnswer {
  readonly status: number
  /** Undefined when the response has no metrics. */
  readonly metrics?: RequestCosts | undefined
  /** `place` and `caller` are undefined when the credential was rejected. */
  readonly place?: Place | undefined
  readonly caller?: LogCaller | undefined
  readonly named?: readonly NamedObject[] | undefined
  readonly isSlow?: boolean
  readonly txnTime?: Micros
  /** The error, with its quoted values separated from the text: see `src/model/language.ts`. */
  readonly fault?: { readonly code: string; readonly text: Template; readonly position: Template } | undefined
}

/** The functions of a language that remove the data of clients from queries and errors: see `src/model/language.ts`. */
interface QueryRedaction {
  shape(query: string, names: readonly string[]): string
  isWord(word: string): boolean
}

type QueryRedactions = { readonly [L in LanguageName]?: QueryRedaction }

const noCosts: RequestCosts = {
  computeOps: 0,
  byteReadOps: 0,
  byteWriteOps: 0,
  queryTimeMs: 0,
  txnRetries: 0,
  rateLimited: [],
}
const noNames: readonly string[] = []
const noObjects: readonly NamedObject[] = []

/** The letter before the name of a schema object, by the kind of the object, in the recorded text of a query. */
const kindLetters = { collection: 'c', index: 'i', function: 'f' } as const

/** A value, and the number of the text that was made from the value. */
interface CachedText<T> {
  readonly value: T
  readonly textNumber: number
}

export class RecordWriter {
  readonly #segments: SegmentWriter
  readonly #redactions: QueryRedactions
  readonly #texts: TextTable
  // The texts of these values take long to build, so the latest value of each key is compared instead.
  readonly #places = new Map<DatabaseId, CachedText<Place>>()
  readonly #callers = new Map<string, CachedText<LogCaller>>()
  readonly #queries = new Map<string, CachedText<readonly NamedObject[]>>()
  /** The flags and the fields of the record that is being written. */
  #flags = 0
  readonly #fields = new Float64Array(fieldsMax)
  #count = 0

  constructor(segments: SegmentWriter, redactions: QueryRedactions) {
    this.#segments = segments
    this.#redactions = redactions
    this.#texts = new TextTable(segments, () => {
      this.#places.clear()
      this.#callers.clear()
      this.#queries.clear()
    })
  }

  /** Records a finished request. `bytesOut`: the length of the response's body; 0 for a stream. Never waits. */
  write(call: RecordedCall, answer: RecordedAnswer, bytesOut: number): void {
    const time = this.#segments.now()
    this.#flags = recordFlag.isRecord
    this.#count = 0
    try {
      if (!this.#texts.begin()) return
      this.#addTextNumbers(call, answer)
      this.#addStatusAndCosts(call, answer, bytesOut)
    } catch (cause) {
      if (cause instanceof LostRecord) return
      throw cause
    }
    this.#append(Math.floor(time / 1000), call.trace)
  }

  /** Adds the numbers of all texts. New texts are written at once, so they precede the record. */
  #addTextNumbers(call: RecordedCall, answer: RecordedAnswer): void {
    const texts = this.#texts
    const { endpoint, protocol, request, settings, tags } = call
    const { caller, fault, metrics, named = noObjects, place } = answer
    const { headers } = request
    const redaction = this.#redactions[protocol.language]
    const names = named.length === 0 ? noNames : named.map(({ name }) => name)
    const query = call.body ?? (call.longBody && beginningOfJson(call.longBody.joined(shapedBytes)))
    const shape = query === undefined ? '' : (redaction?.shape(query, names) ?? '')
    const version = settings?.dialect ?? String(headers['x-faunadb-api-version'] ?? '')
    this.#add(texts.plain(shortened(request.method, loggedWordCharsMax)))
    this.#add(texts.plain(shortened(version, loggedWordCharsMax)))
    this.#add(texts.plain(endpoint?.path ?? ''))
    this.#add(texts.plain(shortened(request.client, loggedCharsMax)))
    this.#add(place === undefined ? 0 : this.#place(place))
    this.#add(caller === undefined ? 0 : this.#caller(caller))
    this.#add(this.#query(shape, named))
    if (answer.isSlow === true) this.#flags |= recordFlag.isSlow
    if (fault !== undefined)
      this.#addFlagged(recordFlag.fault, texts.exact(faultJson(fault, names, redaction)))
    if (metrics !== undefined && metrics.rateLimited.length > 0)
      this.#addFlagged(recordFlag.rateLimits, texts.exact(JSON.stringify(metrics.rateLimited)))
    if (tags.length > 0) this.#addFlagged(recordFlag.tags, texts.exact(tagsJson(tags)))
    this.#addHeaders(headers)
  }

  #addStatusAndCosts(
    call: RecordedCall,
    { metrics, status, txnTime }: RecordedAnswer,
    bytesOut: number,
  ): void {
    const costs = metrics ?? noCosts
    this.#add(status)
    this.#add(call.bytesIn)
    this.#add(bytesOut)
    this.#add(costs.computeOps)
    this.#add(costs.byteReadOps)
    this.#add(costs.byteWriteOps)
    this.#add(costs.queryTimeMs)
    this.#add(costs.txnRetries)
    if (costs.byteWriteOps > 0 && txnTime !== undefined) this.#addFlagged(recordFlag.commitTime, txnTime)
  }

  #append(timeMs: number, { spanId, traceId }: RecordedCall['trace']): void {
    const block = this.#segments.reserve(recordBytesMax, this.#texts.size)
    if (block === undefined) return
    const { bytes } = block
    bytes[block.used] = this.#flags
    let at = writeVarint(bytes, block.used + 1, timeMs - block.latestMs)
    for (let field = 0; field < this.#count; field++)
      at = writeVarint(bytes, at, this.#fields[field] as number)
    at = writeHex(bytes, at, traceId)
    block.used = writeHex(bytes, at, spanId)
    block.latestMs = timeMs
    block.records++
  }

  #add(field: number): void {
    assert(Number.isSafeInteger(field) && field >= 0, 'recorded numbers are nonnegative integers')
    this.#fields[this.#count++] = field
  }

  #addFlagged(flag: number, field: number): void {
    this.#flags |= flag
    this.#add(field)
  }

  #place(place: Place): number {
    const { ids, names } = place
    const key = ids.at(-1) ?? rootDatabase
    const known = this.#places.get(key)
    if (known !== undefined && areEqual(known.value.ids, ids) && areEqual(known.value.names, names))
      return known.textNumber
    const textNumber = this.#texts.exact(`${trailOf(ids)}${JSON.stringify(names)}`)
    this.#places.set(key, { value: place, textNumber })
    return textNumber
  }

  #caller(caller: LogCaller): number {
    const { credential, identity, roles } = caller
    // Tokens of a third party have no ids, so their callers are distinguished by the identity.
    const key = credential === 'provider' && identity !== undefined ? identity : credential
    const known = this.#callers.get(key)
    if (known !== undefined) {
      const { value } = known
      if (value.credential === credential && value.identity === identity && areEqual(value.roles, roles))
        return known.textNumber
    }
    const shown = shortened(identity ?? '', loggedCharsMax)
    const textNumber = this.#texts.exact(JSON.stringify([credential, roles.join(), shown]))
    // Long identities, which tokens of a third party may contain, would fill the memory.
    if (key.length <= loggedCharsMax) this.#callers.set(key, { value: caller, textNumber })
    return textNumber
  }

  /** `shape`: escaped for JSON, with marks for the names of objects (`src/values/names.ts`). */
  #query(shape: string, named: readonly NamedObject[]): number {
    if (named.length === 0) return shape === '' ? 0 : this.#texts.exact(shape)
    const known = this.#queries.get(shape)
    if (known !== undefined && areSameObjects(known.value, named)) return known.textNumber
    const names = JSON.stringify(named.map(({ kind, name }) => kindLetters[kind] + name))
    // A shape contains no line break, because it is escaped.
    const textNumber = this.#texts.exact(`${shape}\n${names}`)
    this.#queries.set(shape, { value: named, textNumber })
    return textNumber
  }

  #addHeaders(headers: Headers): void {
    const bitsAt = this.#count++
    // The bits have the order of `textHeaders`, then of `numericHeaders`. Property accesses with constant names are
    // several times faster than a loop over these lists.
    const bits =
      this.#addTextHeader(0x01, headers['x-forwarded-for']) |
      this.#addTextHeader(0x02, headers['user-agent']) |
      this.#addTextHeader(0x04, headers['x-runtime-environment']) |
      this.#addTextHeader(0x08, headers['x-runtime-environment-os']) |
      this.#addTextHeader(0x10, headers['x-nodejs-version']) |
      this.#addTextHeader(0x20, headers['x-driver-env']) |
      this.#addNumericHeader(0x40, headers['x-max-retries-on-contention']) |
      this.#addNumericHeader(0x80, headers['x-query-timeout']) |
      this.#addNumericHeader(0x100, headers['x-last-seen-txn'])
    this.#fields[bitsAt] = bits
  }

  /** Returns `bit` if the header is present, else 0. */
  #addTextHeader(bit: number, value: Headers[string]): number {
    if (value === undefined) return 0
    const text = typeof value === 'string' ? value : String(value)
    this.#add(this.#texts.plain(shortened(text, recordLimits.loggedHeaderCharsMax)))
    return bit
  }

  #addNumericHeader(bit: number, value: Headers[string]): number {
    if (value === undefined) return 0
    if (typeof value !== 'string' || !isPlainInteger(value)) this.#add(numericHeader.invalid)
    else if (Number(value) < Number.MAX_SAFE_INTEGER - numericHeader.first)
      this.#add(Number(value) + numericHeader.first)
    else {
      this.#add(numericHeader.text)
      this.#add(this.#texts.exact(value))
    }
    return bit
  }
}

/**
 * Estimates the bytes of a record if no earlier record contains its texts. The shape is assumed to be as long as the
 * query, up to {@link shapeBytesMax}.
 */
export function bytesOfRecord({ body, endpoint, longBody, request, tags }: RecordedCall): number {
  let bytes = numbersBytes + (endpoint?.path.length ?? 0)
  bytes += Math.min(shapeBytesMax, body?.length ?? (longBody === undefined ? 0 : shapeBytesMax))
  for (const [, header] of textHeaders)
    bytes += Math.min(recordLimits.loggedHeaderCharsMax, String(request.headers[header] ?? '').length)
  for (const [key, value] of tags) bytes += key.length + value.length
  return bytes
}

function writeHex(bytes: Uint8Array, at: number, digits: string): number {
  for (let digit = 0; digit < digits.length; digit += 2)
    bytes[at++] = (digitValue(digits.charCodeAt(digit)) << 4) | digitValue(digits.charCodeAt(digit + 1))
  return at
}

/** Returns the value of a hexadecimal digit: in ASCII, the letters have the bit 0x40. */
function digitValue(code: number): number {
  return (code & 0xf) + (code >> 6) * 9
}

function areEqual<T>(left: readonly T[], right: readonly T[]): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false
  return true
}

function areSameObjects(left: readonly NamedObject[], right: readonly NamedObject[]): boolean {
  if (left.length !== right.length) return false
  for (let at = 0; at < left.length; at++) {
    const [one, other] = [left[at] as NamedObject, right[at] as NamedObject]
    if (one.name !== other.name || one.kind !== other.kind) return false
  }
  return true
}

function shortened(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`
}

/** True for nonnegative integers in JSON syntax of at most 16 digits, the length of a transaction time. */
function isPlainInteger(text: string): boolean {
  if (text.length > 16 || (text.length > 1 && text.charCodeAt(0) === 0x30)) return false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x30 || code > 0x39) return false
  }
  return text !== ''
}

/** Keys and values are words (the HTTP layer rejects others), so nothing needs escaping. */
function tagsJson(tags: RecordedCall['tags']): string {
  let text = '{'
  for (const [key, value] of tags) text += `${text === '{' ? '' : ','}"${key}":"${value}"`
  return `${text}}`
}

function faultJson(
  { code, position, text }: NonNullable<RecordedAnswer['fault']>,
  names: readonly string[],
  redaction: QueryRedaction | undefined,
): string {
  const isKnown = (word: string) => names.includes(word) || redaction?.isWord(word) === true
  return JSON.stringify([code, errorText(text, isKnown), errorText(position, isKnown)])
}
