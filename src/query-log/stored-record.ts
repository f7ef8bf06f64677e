// A record of a segment of blocks, and its line in the format of exports. The protocol fixes the names of the fields,
// their order and their types (RESPONSE_CODE is text, REQUEST_HEADERS is text that contains JSON).

import { micros } from '../base/micros.ts'
import type { Micros } from '../values/value.ts'
import { createTimestampFormat } from './exported-record.ts'
import type { LogFault, ParsedFacts } from './facts.ts'
import { noDatabase } from './ownership.ts'
import type { SearchText } from './search-text.ts'
import {
  numericHeader,
  numericHeaders,
  recordFlag,
  textHeaders,
  traceBytes,
  traceIdBytes,
} from './segment-format.ts'
import type { SegmentRecord } from './segment-record.ts'
import type { StoredText } from './stored-text.ts'
import type { VarintReader } from './varint.ts'

const timestamp = createTimestampFormat()

const headerNames = [...textHeaders, ...numericHeaders].map(([name]) => name)

/** The value in exports for a numeric header without a valid number. */
const notANumber = -1

/** The texts of a section, by their numbers. */
export type TextOf = (number: number) => StoredText

/** A record. The trace is read from the block when the record is formatted. */
export class StoredRecord implements SegmentRecord {
  readonly time: number
  readonly regionGroup: string
  readonly status: number
  readonly queryTimeMs: number
  readonly readOps: number
  readonly writeOps: number
  readonly computeOps: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly retries: number
  readonly #isSlow: boolean
  readonly #method: StoredText
  readonly #version: StoredText
  readonly #endpoint: StoredText
  readonly #address: StoredText
  readonly #place: StoredText | undefined
  readonly #caller: StoredText | undefined
  readonly #query: StoredText | undefined
  readonly #faultText: StoredText | undefined
  readonly #rateLimits: StoredText | undefined
  readonly #tags: StoredText | undefined
  readonly #commitTime: Micros | undefined
  readonly #headerBits: number
  readonly #headers: readonly (StoredText | number)[]
  readonly #block: Buffer
  readonly #traceAt: number

  /**
   * Reads a record after its flags, and moves `reader` past the record. `previousMs`: the time of the block's previous
   * record; 0 for the first record.
   */
  constructor(
    reader: VarintReader,
    block: Buffer,
    flags: number,
    previousMs: number,
    regionGroup: string,
    textOf: TextOf,
  ) {
    const optional = () => {
      const number = reader.next()
      return number === 0 ? undefined : textOf(number)
    }
    const flagged = (flag: number) => ((flags & flag) === 0 ? undefined : textOf(reader.next()))
    this.regionGroup = regionGroup
    this.#isSlow = (flags & recordFlag.isSlow) !== 0
    this.time = previousMs + reader.next()
    this.#method = textOf(reader.next())
    this.#version = textOf(reader.next())
    this.#endpoint = textOf(reader.next())
    this.#address = textOf(reader.next())
    this.#place = optional()
    this.#caller = optional()
    this.#query = optional()
    this.#faultText = flagged(recordFlag.fault)
    this.#rateLimits = flagged(recordFlag.rateLimits)
    this.#tags = flagged(recordFlag.tags)
    this.#headerBits = reader.next()
    this.#headers = this.#headerBits === 0 ? [] : headersOf(this.#headerBits, reader, textOf)
    this.status = reader.next()
    this.bytesIn = reader.next()
    this.bytesOut = reader.next()
    this.computeOps = reader.next()
    this.readOps = reader.next()
    this.writeOps = reader.next()
    this.queryTimeMs = reader.next()
    this.retries = reader.next()
    this.#commitTime = (flags & recordFlag.commitTime) === 0 ? undefined : micros(reader.next())
    this.#block = block
    this.#traceAt = reader.at
    reader.at += traceBytes
  }

  get trail(): string {
    return this.#place?.place.trail ?? noDatabase
  }

  get tags(): Readonly<Record<string, string>> | undefined {
    return this.#tags?.tags
  }

  get shape(): string {
    return this.#query?.query.shape ?? ''
  }

  get fault(): LogFault | undefined {
    return this.#faultText?.fault.fault
  }

  facts(): ParsedFacts {
    return {
      caller: this.#caller?.caller,
      address: this.#address.unescaped,
      endpoint: this.#endpoint.unescaped,
      isSlow: this.#isSlow,
      named: this.#query?.query.named ?? [],
      fault: this.fault,
      commitTime: this.#commitTime,
      shape: this.shape,
    }
  }

  contains(text: SearchText): boolean {
    const { word } = text
    if (word !== undefined && !this.#hasWord(word)) return false
    return (
      word === text ||
      text.isIn(this.line().toLowerCase()) ||
      this.#query?.contains(text, this.#query.query.searched) === true ||
      (this.#faultText !== undefined && text.isIn(this.#faultText.fault.searched))
    )
  }

  #hasWord(word: SearchText): boolean {
    for (const header of this.#headers) if (typeof header !== 'number' && header.contains(word)) return true
    return (
      this.#query?.contains(word, this.#query.query.searched) === true ||
      this.#method.contains(word) ||
      this.#version.contains(word) ||
      this.#place?.contains(word, this.#place.place.json) === true ||
      this.#tags?.contains(word) === true ||
      this.#rateLimits?.contains(word) === true ||
      (this.#faultText !== undefined && word.isIn(this.#faultText.fault.searched)) ||
      word.isIn(this.regionGroup.toLowerCase())
    )
  }

  line(): string {
    const trace = this.#block.toString('hex', this.#traceAt, this.#traceAt + traceBytes)
    const spanAt = 2 * traceIdBytes
    return `{"API_VERSION":"${this.#version.text}","BYTES_IN":${this.bytesIn},"BYTES_OUT":${this.bytesOut},"BYTE_READ_OPS":${this.readOps},"BYTE_WRITE_OPS":${this.writeOps},"COMPUTE_OPS":${this.computeOps},"DATABASE":${this.#place?.place.json ?? '[]'},"FQL_SHAPE":"${this.#query?.query.plain ?? ''}","QUERY_TIME_MS":${this.queryTimeMs},"RATE_LIMITS_HIT":${this.#rateLimits?.text ?? '[]'},"REGION_GROUP":${JSON.stringify(this.regionGroup)},"REQUEST_HEADERS":"{${this.#headersText()}}","REQUEST_METHOD":"${this.#method.text}","RESPONSE_CODE":"${this.status}","TAGS":${this.#tags?.text ?? '{}'},"TRACEPARENT":"00-${trace.slice(0, spanAt)}-${trace.slice(spanAt)}-00","TS":"${timestamp(this.time)}","TXN_RETRIES":${this.retries}}`
  }

  /** Returns the members of REQUEST_HEADERS, escaped for JSON. */
  #headersText(): string {
    let text = ''
    let at = 0
    for (let bit = 0; bit < headerNames.length; bit++) {
      if ((this.#headerBits & (1 << bit)) === 0) continue
      const value = this.#headers[at++] as StoredText | number
      const shown = typeof value === 'number' ? value : bit < textHeaders.length ? value.header : value.text
      text += `${text === '' ? '' : ','}\\"${headerNames[bit]}\\":${shown}`
    }
    return text
  }
}

function headersOf(bits: number, reader: VarintReader, textOf: TextOf): readonly (StoredText | number)[] {
  const headers: (StoredText | number)[] = []
  for (let bit = 0; bit < headerNames.length; bit++) {
    if ((bits & (1 << bit)) === 0) continue
    const value = reader.next()
    if (bit < textHeaders.length) headers.push(textOf(value))
    else if (value === numericHeader.text) headers.push(textOf(reader.next()))
    else headers.push(value === numericHeader.invalid ? notANumber : value - numericHeader.first)
  }
  return headers
}
