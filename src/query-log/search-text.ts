// The text of a search in records. Most searched texts contain a word. A word cannot begin in one field of a record and
// end in another, so it is searched in the texts of the record, which many records share. Only the lines of records with
// the word are searched for the whole text.

import { escaped } from './escaped.ts'
import { numericHeaders, textHeaders } from './segment-format.ts'

/** The names in a line of an export, and the `Z` of its time. */
const names = [
  'API_VERSION',
  'BYTES_IN',
  'BYTES_OUT',
  'BYTE_READ_OPS',
  'BYTE_WRITE_OPS',
  'COMPUTE_OPS',
  'DATABASE',
  'FQL_SHAPE',
  'QUERY_TIME_MS',
  'RATE_LIMITS_HIT',
  'REGION_GROUP',
  'REQUEST_HEADERS',
  'REQUEST_METHOD',
  'RESPONSE_CODE',
  'TAGS',
  'TRACEPARENT',
  'TS',
  'TXN_RETRIES',
  'Z',
  ...[...textHeaders, ...numericHeaders].map(([name]) => name),
]
  .join('\n')
  .toLowerCase()

/** Punctuation of JSON, times and paths, which separates the texts of a record. */
const punctuation = /[-\s{}[\]":,./\\]+/
const hexadecimal = /^[0-9a-f]*$/

export class SearchText {
  /** Text in lower case, and escaped for JSON. */
  readonly text: string
  /**
   * A part of the text that can only occur within one text of a record, because it contains no punctuation, and is neither
   * a hexadecimal number (as in a trace) nor a part of the name of a field. Undefined if there is no such part.
   */
  readonly word: SearchText | undefined

  /** `text`: as the client wrote it. */
  constructor(text: string) {
    this.text = escaped(text).toLowerCase()
    const words = this.text
      .split(punctuation)
      .filter(each => !hexadecimal.test(each) && !names.includes(each))
    const [longest] = words.sort((left, right) => right.length - left.length)
    if (longest !== undefined) this.word = longest === this.text ? this : new SearchText(longest)
  }

  isIn(lowerCase: string): boolean {
    return lowerCase.includes(this.text)
  }
}
