// Splits a stream of JSON into elements: the items of an array, of a page (`{"data":[…]}`) or of a raw response
// (`{"resource":{"data":[…]}}`), or the values of a sequence. Line breaks between and within values are optional. Only
// one element is in memory at a time.

import { bytesEqual, joinBytes } from '../base/bytes.ts'
import {
  blanksEnd,
  closeBracket,
  colon,
  comma,
  nestedEnd,
  newline,
  openBrace,
  openBracket,
  quote,
  space,
  stringEnd,
  unfinished,
  valueEnd,
} from '../values/json-scan.ts'
import { BadRecord, TransferError } from './record.ts'

/** A place between two elements, where reading can continue later. */
export interface ElementPlace {
  /** Offset in the uncompressed file, in bytes. */
  readonly offset: number
  readonly line: number
  /** Brackets and braces that are open at this place. */
  readonly open: number
}

export const start: ElementPlace = { offset: 0, line: 1, open: 0 }

export interface JsonElement {
  readonly text: string
  /** Line and byte offset at which the element starts in the uncompressed file. */
  readonly line: number
  readonly offset: number
  /** The place where the search for the next element begins. */
  readonly next: ElementPlace
  /**
   * `text` is only the beginning of an incomplete element. With {@link ElementOptions.byLine}, reading continues on the
   * next line; in other files, an incomplete element is an error.
   */
  readonly isBroken: boolean
}

interface ElementOptions {
  /** Each element is within one line, so that reading can continue after an incomplete element. */
  readonly byLine: boolean
  /** The place where the chunks begin. By default, the chunks begin at the start of the file. */
  readonly from?: ElementPlace
}

/**
 * Bytes of an element: four times the maximum size of a document, because a text may be longer than its stored form.
 */
const elementBytesMax = 33_554_432
/** Maximum number of bytes of a page before the first element of its array. */
const prefixBytesMax = 65_536

const tab = 0x09
const carriageReturn = 0x0d

/** Throws {@link BadRecord} when the stream ends within an element. */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  options: ElementOptions,
): AsyncGenerator<JsonElement, void, undefined> {
  const splitter = new Splitter(options)
  for await (const chunk of chunks) {
    splitter.add(chunk)
    yield* splitter.elements()
  }
  splitter.end()
  yield* splitter.elements()
  splitter.checkEnd()
}

class Splitter {
  readonly #byLine: boolean
  #buffer: Uint8Array = new Uint8Array(0)
  /** File offset of the first byte in the buffer. */
  #base: number
  /** Current offset in the buffer. */
  #at = 0
  #line: number
  #open: number
  #ended = false

  constructor({ byLine, from = start }: ElementOptions) {
    this.#byLine = byLine
    this.#base = from.offset
    this.#line = from.line
    this.#open = from.open
  }

  add(chunk: Uint8Array): void {
    const rest = this.#buffer.subarray(this.#at)
    this.#base += this.#at
    this.#at = 0
    this.#buffer = rest.length === 0 ? chunk : joinBytes([rest, chunk])
    if (this.#base === 0 && bytesEqual(this.#buffer.subarray(0, 3), byteOrderMark)) this.#at = 3
  }

  end(): void {
    this.#ended = true
  }

  /** Yields the complete elements in the buffer. */
  *elements(): Generator<JsonElement> {
    for (;;) {
      if (!this.#toElement()) return
      const line = this.#byLine ? this.#buffer.indexOf(newline, this.#at) : -1
      const end = valueEnd(this.#buffer, this.#at, line < 0 ? this.#buffer.length : line)
      const broken = end === unfinished && line >= 0
      const stop = broken ? line : end
      // An element at the end of the buffer may be incomplete. A number or literal may continue in the next chunk.
      if (stop < 0 || (stop === this.#buffer.length && !this.#ended && !isClosed(this.#buffer, this.#at))) {
        if (this.#buffer.length - this.#at > elementBytesMax)
          throw new BadRecord(`line ${this.#line}: more than ${elementBytesMax} bytes without an end`)
        if (!this.#ended || !this.#byLine || this.#at >= this.#buffer.length) return
        yield this.#take(this.#buffer.length, true)
        continue
      }
      yield this.#take(stop, broken)
    }
  }

  #take(stop: number, isBroken: boolean): JsonElement {
    const [line, offset] = [this.#line, this.#base + this.#at]
    const text = utf8.decode(this.#buffer.subarray(this.#at, stop))
    this.#countLines(stop)
    return {
      text,
      line,
      offset,
      isBroken,
      next: { offset: this.#base + stop, line: this.#line, open: this.#open },
    }
  }

  #countLines(to: number): void {
    let at = this.#at
    for (;;) {
      at = this.#buffer.indexOf(newline, at)
      if (at < 0 || at >= to) break
      this.#line++
      at++
    }
    this.#at = to
  }

  /** Moves to the start of the next element. Returns false when the buffer ends before. */
  #toElement(): boolean {
    for (;;) {
      const byte = this.#buffer[this.#at]
      if (byte === undefined) return false
      if (byte === newline) this.#line++
      if (byte <= space && (byte === space || byte === newline || byte === tab || byte === carriageReturn))
        this.#at++
      else if (byte === comma && this.#open > 0) this.#at++
      else if (byte === closeBracket && this.#open > 0) {
        if (!this.#skipToEnd()) return false
      } else if (this.#open > 0) return true
      else if (byte === openBracket) {
        this.#at++
        this.#open = 1
      } else if (byte === openBrace) {
        const prefix = this.#pagePrefix()
        if (prefix === undefined) return false
        if (prefix.opened === 0) return true
        this.#countLines(this.#at + prefix.length)
        this.#open = prefix.opened
      } else return true
    }
  }

  /** Moves past the end of the array and of the values that contain it. Returns false when the buffer ends before. */
  #skipToEnd(): boolean {
    const end = nestedEnd(this.#buffer, this.#at, this.#buffer.length, this.#open)
    if (end === unfinished) return false
    this.#countLines(end)
    this.#open = 0
    return true
  }

  /**
   * Parses the page prefix of the object at the current position. Returns `noPage` if the object is not a page, and
   * undefined when more bytes are needed.
   */
  #pagePrefix(): PagePrefix | undefined {
    const prefix = pagePrefix(this.#buffer, this.#at)
    const isShort = this.#buffer.length - this.#at < prefixBytesMax && !this.#ended
    return prefix === 'unknown' ? (isShort ? undefined : noPage) : prefix
  }

  /** Rejects a stream that ends within a value. */
  checkEnd(): void {
    if (this.#open === 0 && this.#at >= this.#buffer.length) return
    throw new BadRecord(`the file ends within the value that begins before line ${this.#line}: it is cut off`)
  }
}

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** True for a value that ends with a bracket, brace or quote. A number, for example, has no closing character. */
function isClosed(buffer: Uint8Array, at: number): boolean {
  const first = buffer[at]
  return first === openBrace || first === openBracket || first === quote
}

interface PagePrefix {
  readonly length: number
  /** Open brackets and braces before the page's first element; 0 when the object is not a page. */
  readonly opened: number
}

const noPage: PagePrefix = { length: 0, opened: 0 }

const cursors: ReadonlySet<string> = new Set(['before', 'after'])

/**
 * Parses the prefix of a page at `from`: the text before the first element. The cursors `before` and `after` may
 * precede `data`. The page may be the value of `resource`. Returns `unknown` when more bytes are needed.
 */
function pagePrefix(bytes: Uint8Array, from: number): PagePrefix | 'unknown' {
  let at = from
  for (let opened = 1; bytes[at] === openBrace; opened++) {
    let name: string
    do {
      at = blanksEnd(bytes, at + 1)
      const end = bytes[at] === quote ? stringEnd(bytes, at) : at
      if (end === unfinished || end === bytes.length) return 'unknown'
      name = utf8.decode(bytes.subarray(at + 1, end))
      at = blanksEnd(bytes, end + 1)
      if (!cursors.has(name) && name !== 'data' && name !== 'resource') return noPage
      if (at < bytes.length && bytes[at] !== colon) return noPage
      at = blanksEnd(bytes, at + 1)
      if (cursors.has(name)) {
        const valueStop = valueEnd(bytes, at)
        if (valueStop === unfinished) return 'unknown'
        at = blanksEnd(bytes, valueStop)
        if (at < bytes.length && bytes[at] !== comma) return noPage
      }
      if (at >= bytes.length) return 'unknown'
    } while (cursors.has(name))
    if (name === 'resource' && bytes[at] !== openBracket) continue
    const first = blanksEnd(bytes, at + 1)
    if (first >= bytes.length && name === 'data') return 'unknown'
    const isPage =
      bytes[at] === openBracket && (name === 'resource' || pageStarts.has(bytes[first] as number))
    return isPage ? { length: at + 1 - from, opened: opened + 1 } : noPage
  }
  return noPage
}

/**
 * First bytes in the `data` array of a page. A document begins with `{`, an array of fields with `[`, and an empty
 * `data` array ends with `]`.
 */
const pageStarts: ReadonlySet<number> = new Set([openBrace, openBracket, closeBracket])

/** Throws {@link BadRecord} for an incomplete element. */
export function wholeText(element: JsonElement): string {
  if (element.isBroken) throw new BadRecord('broken JSON: it does not end on its line')
  return element.text
}

/** Adds the name of the file to an error of its stream. */
export function inFile(cause: unknown, file: string): unknown {
  return cause instanceof BadRecord ? new TransferError(`${file}: ${cause.message}`, { cause }) : cause
}
