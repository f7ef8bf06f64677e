// Cuts streams of JSON into the elements that records are made of, without holding more than one of them: the
// elements of arrays, values one after another (with or without line breaks in between or inside), and the elements
// of pages and raw responses (`{"data":[…]}`, `{"resource":{"data":[…]}}`).

import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  newline,
  openBrace,
  openBracket,
  quote,
  space,
} from '../values/json-characters.ts'
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
export interface Element {
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
const glimpseBytes = 64
/** How a page may begin, as far as {@link glimpseBytes} show it. */
const pageStart = /^\{\s*(?:$|"(?:data"\s*:\s*(?:$|\[)|resource"\s*:\s*(?:$|[[{])|before"|after"))/

const tab = 0x09

/** The elements of a stream. Throws {@link BadRecord} where it ends in the middle of something. */
export async function* jsonElements(
  chunks: AsyncIterable<Buffer>,
  options: ElementOptions,
): AsyncGenerator<Element, void, undefined> {
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
  #buffer: Buffer = Buffer.alloc(0)
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

  add(chunk: Buffer): void {
    const rest = this.#buffer.subarray(this.#at)
    this.#base += this.#at
    this.#at = 0
    this.#buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (this.#base === 0 && this.#buffer.subarray(0, 3).equals(byteOrderMark)) this.#at = 3
  }

  end(): void {
    this.#ended = true
  }

  /** All elements that the buffer holds whole. */
  *elements(): Generator<Element> {
    for (;;) {
      if (!this.#toElement()) return
      const end = elementEnd(this.#buffer, this.#at, this.#byLine)
      const broken = end === brokenAtLine
      const stop = broken ? lineEnd(this.#buffer, this.#at) : end
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

  #take(stop: number, isBroken: boolean): Element {
    const [line, offset] = [this.#line, this.#base + this.#at]
    const text = this.#buffer.toString('utf8', this.#at, stop)
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
      if (byte <= space && (byte === space || byte === newline || byte === tab || byte === 0x0d)) this.#at++
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
    let open = this.#open
    for (let at = this.#at; at < this.#buffer.length; at++) {
      const byte = this.#buffer[at]
      if (byte === quote) {
        at = stringEnd(this.#buffer, at)
        if (at < 0) return false
      } else if (byte === openBracket || byte === openBrace) open++
      else if (byte === closeBracket || byte === closeBrace) {
        if (--open > 0) continue
        this.#countLines(at + 1)
        this.#open = 0
        return true
      }
    }
    return false
  }

  /** How the object at the current place begins; undefined when more bytes are needed to tell. */
  #pagePrefix(): PagePrefix | undefined {
    // Most objects are no pages, and a few bytes tell.
    const glimpse = this.#buffer.toString('latin1', this.#at, this.#at + glimpseBytes)
    if (glimpse.length === glimpseBytes && !pageStart.test(glimpse)) return noPage
    const head = this.#buffer.toString('latin1', this.#at, this.#at + prefixBytesMax)
    const prefix = pagePrefix(head)
    const isShort = head.length < prefixBytesMax && !this.#ended
    return prefix === 'unknown' ? (isShort ? undefined : noPage) : prefix
  }

  /** Refuses a stream that ends where something is open. */
  checkEnd(): void {
    if (this.#open === 0 && this.#at >= this.#buffer.length) return
    throw new BadRecord(`the file ends in the middle of what begins before line ${this.#line}: it is cut off`)
  }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/** The element is not closed at the end of its line. */
const brokenAtLine = -2
/** The buffer ends before the element. */
const unfinished = -1

/** Behind the last byte of the element at `at`, or {@link unfinished}, or {@link brokenAtLine}. */
function elementEnd(buffer: Buffer, at: number, byLine: boolean): number {
  const first = buffer[at]
  if (first !== openBrace && first !== openBracket) return scalarEnd(buffer, at)
  const newlineAt = byLine ? buffer.indexOf(newline, at) : -1
  const limit = newlineAt < 0 ? buffer.length : newlineAt
  let depth = 0
  for (let index = at; index < limit; index++) {
    const byte = buffer[index] as number
    if (byte === quote) {
      index = stringEnd(buffer, index)
      if (index < 0) break
    } else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) return index + 1
    }
  }
  return newlineAt < 0 ? unfinished : brokenAtLine
}

/** The closing quote of the string that begins at `at`; -1 when the buffer ends before. */
function stringEnd(buffer: Buffer, at: number): number {
  let end = at
  for (;;) {
    end = buffer.indexOf(quote, end + 1)
    if (end < 0) return -1
    let before = end - 1
    while (buffer[before] === backslash) before--
    if ((end - before) % 2 === 1) return end
  }
}

function scalarEnd(buffer: Buffer, at: number): number {
  if (buffer[at] === quote) {
    const end = stringEnd(buffer, at)
    return end < 0 ? unfinished : end + 1
  }
  for (let index = at; index < buffer.length; index++) {
    const byte = buffer[index] as number
    if (byte <= space || byte === comma || byte === closeBracket) return index === at ? at + 1 : index
  }
  return buffer.length
}

/** Whether what begins at `at` says itself where it ends. */
function isClosed(buffer: Buffer, at: number): boolean {
  const first = buffer[at]
  return first === openBrace || first === openBracket || first === quote
}

function lineEnd(buffer: Buffer, at: number): number {
  return buffer.indexOf(newline, at)
}

// --------------------------------------------------------------------------------------------------- pages

interface PagePrefix {
  readonly length: number
  /** Brackets and braces up to the page's first element; 0 for what is no page. */
  readonly opened: number
}

const noPage: PagePrefix = { length: 0, opened: 0 }

/** Whether an object is a page: up to its `data` it may hold cursors, and it may stand in a `resource`. */
function pagePrefix(text: string): PagePrefix | 'unknown' {
  let at = 0
  let opened = 0
  const blanks = () => {
    while (at < text.length && text.charCodeAt(at) <= space) at++
    return text[at]
  }
  for (;;) {
    if (blanks() === undefined) return 'unknown'
    if (text[at] !== '{') return noPage
    at++
    opened++
    for (;;) {
      if (blanks() === undefined) return 'unknown'
      const name = /"(resource|data|before|after)"\s*:\s*/y
      name.lastIndex = at
      const found = name.exec(text)
      if (!found) return text.length - at < 16 ? 'unknown' : noPage
      at = name.lastIndex
      if (text[at] === undefined) return 'unknown'
      if (found[1] === 'resource') break
      if (found[1] === 'data') {
        if (text[at] !== '[') return noPage
        at++
        const first = blanks()
        if (first === undefined) return 'unknown'
        return first === '{' || first === '[' || first === ']' ? { length: at, opened: opened + 1 } : noPage
      }
      const end = valueEnd(text, at)
      if (end < 0) return 'unknown'
      at = end
      if (blanks() === ',') at++
    }
    if (text[at] === '[') return { length: at + 1, opened: opened + 1 }
  }
}

/** Behind the array, object or text at `at`; -1 when the text ends before. */
function valueEnd(text: string, at: number): number {
  const buffer = Buffer.from(text, 'latin1')
  return elementEnd(buffer, at, false)
}

/** Refuses elements that are broken, so that the text of others can be trusted to be whole. */
export function wholeText(element: Element): string {
  if (element.isBroken) throw new BadRecord('broken JSON: it does not end on its line')
  return element.text
}

/** Says of an error of the stream itself where it is. */
export function inFile(cause: unknown, file: string): unknown {
  return cause instanceof BadRecord ? new TransferError(`${file}: ${cause.message}`, { cause }) : cause
}
