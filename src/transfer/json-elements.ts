// Cuts streams of JSON into the elements that records are made of, without holding more than one of them: the
// elements of arrays, values one after another (with or without line breaks in between or inside), and the elements
// of pages and raw responses (`{"data":[…]}`, `{"resource":{"data":[…]}}`).

import { areSame, joinBytes } from '../base/bytes.ts'
import {
  closeBracket,
  colon,
  comma,
  newline,
  openBrace,
  openBracket,
  quote,
  space,
} from '../values/json-characters.ts'
import { blanksEnd, nestedEnd, stringEnd, unfinished, valueEnd } from '../values/json-scan.ts'
import { BadRecord, TransferError } from './record.ts'

/** A place between two elements, from which reading can go on later. */
export interface ElementPlace {
  /** Bytes of the unpacked file. */
  readonly offset: number
  readonly line: number
  /** Brackets and braces that are open around the elements. */
  readonly open: number
}

/** Where a text begins. */
export const start: ElementPlace = { offset: 0, line: 1, open: 0 }

/** One element of a file, as text. */
export interface JsonElement {
  readonly text: string
  /** Where it begins: its line, and its first byte in the unpacked file. */
  readonly line: number
  readonly offset: number
  /** Where the next one can be looked for. */
  readonly next: ElementPlace
  /** It ends in the middle: `text` is what there is. Only where {@link ElementOptions.byLine} tells where to go on. */
  readonly isBroken: boolean
}

interface ElementOptions {
  /** No element goes beyond its line, so that reading can go on behind a broken one. */
  readonly byLine: boolean
  /** Where to begin; at the start when absent. The chunks begin there. */
  readonly from?: ElementPlace
}

/** Bytes of one element: twice what a document may have, as text may be longer than what is stored. */
const elementBytesMax = 33_554_432
/** Bytes in which the array of a page must have begun. */
const prefixBytesMax = 65_536

const tab = 0x09
const carriageReturn = 0x0d
/** The elements of a stream. Throws {@link BadRecord} where it ends in the middle of something. */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  options: ElementOptions,
): AsyncGenerator<JsonElement, void, undefined> {
  const cutter = new Cutter(options)
  for await (const chunk of chunks) {
    cutter.add(chunk)
    yield* cutter.elements()
  }
  cutter.end()
  yield* cutter.elements()
  cutter.checkEnd()
}

class Cutter {
  readonly #byLine: boolean
  #buffer: Uint8Array = new Uint8Array(0)
  /** Offset of the buffer's first byte in the file. */
  #base: number
  /** Where in the buffer reading goes on. */
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
    if (this.#base === 0 && areSame(this.#buffer.subarray(0, 3), byteOrderMark)) this.#at = 3
  }

  end(): void {
    this.#ended = true
  }

  /** All elements that the buffer holds whole. */
  *elements(): Generator<JsonElement> {
    for (;;) {
      if (!this.#toElement()) return
      const line = this.#byLine ? this.#buffer.indexOf(newline, this.#at) : -1
      const end = valueEnd(this.#buffer, this.#at, line < 0 ? this.#buffer.length : line)
      const broken = end === unfinished && line >= 0
      const stop = broken ? line : end
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

  /** Moves to the first byte of the next element; false when that is not in the buffer yet. */
  #toElement(): boolean {
    for (;;) {
      const byte = this.#buffer[this.#at]
      if (byte === undefined) return false
      if (byte === newline) this.#line++
      if (byte <= space && (byte === space || byte === newline || byte === tab || byte === carriageReturn))
        this.#at++
      else if (byte === comma && this.#open > 0) this.#at++
      else if (byte === closeBracket && this.#open > 0) {
        if (!this.#leave()) return false
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

  /** Moves behind the end of the array and of what is around it; false when that is not in the buffer yet. */
  #leave(): boolean {
    const end = nestedEnd(this.#buffer, this.#at, this.#buffer.length, this.#open)
    if (end === unfinished) return false
    this.#countLines(end)
    this.#open = 0
    return true
  }

  /** How the object at the current place begins; undefined when more bytes are needed to tell. */
  #pagePrefix(): PagePrefix | undefined {
    const prefix = pagePrefix(this.#buffer, this.#at)
    const isShort = this.#buffer.length - this.#at < prefixBytesMax && !this.#ended
    return prefix === 'unknown' ? (isShort ? undefined : noPage) : prefix
  }

  /** Refuses a stream that ends where something is open. */
  checkEnd(): void {
    if (this.#open === 0 && this.#at >= this.#buffer.length) return
    throw new BadRecord(`the file ends in the middle of what begins before line ${this.#line}: it is cut off`)
  }
}

const byteOrderMark = Uint8Array.of(0xef, 0xbb, 0xbf)

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Whether what begins at `at` says itself where it ends. */
function isClosed(buffer: Uint8Array, at: number): boolean {
  const first = buffer[at]
  return first === openBrace || first === openBracket || first === quote
}

// --------------------------------------------------------------------------------------------------- pages

interface PagePrefix {
  readonly length: number
  /** Brackets and braces up to the page's first element; 0 for what is no page. */
  readonly opened: number
}

const noPage: PagePrefix = { length: 0, opened: 0 }

const cursors: ReadonlySet<string> = new Set(['before', 'after'])

/** Whether the object at `from` is a page: up to its `data` it may hold cursors, and it may stand in a `resource`. */
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
        const behind = valueEnd(bytes, at)
        if (behind === unfinished) return 'unknown'
        at = blanksEnd(bytes, behind)
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

/** What the data of a page begins with: a document, an array of fields, or the end. */
const pageStarts: ReadonlySet<number> = new Set([openBrace, openBracket, closeBracket])

/** Refuses elements that are broken, so that the text of others can be trusted to be whole. */
export function wholeText(element: JsonElement): string {
  if (element.isBroken) throw new BadRecord('broken JSON: it does not end on its line')
  return element.text
}

/** Says of an error of the stream itself where it is. */
export function inFile(cause: unknown, file: string): unknown {
  return cause instanceof BadRecord ? new TransferError(`${file}: ${cause.message}`, { cause }) : cause
}
