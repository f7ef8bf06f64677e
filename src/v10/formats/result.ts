// A result as the `data` of a response: sets in it become pages, those deep within others, or within themselves, cursors.

import { quoteJson } from '../../values/json-text.ts'
import type { Call } from '../call.ts'
import { equals } from '../comparison.ts'
import { sealCursor } from '../sets/cursor.ts'
import { firstPage } from '../sets/pages.ts'
import { lazy } from '../sets/set.ts'
import { type Doc, SetValue, type Struct, type Value } from '../value.ts'
import { decorate } from './decorated.ts'
import type { Rendering } from './rendering.ts'
import { encodeJson } from './tagged.ts'

/** Levels of sets within sets that are shown. */
const levelsShown = 10

class ResultRendering implements Rendering {
  readonly call: Call
  readonly transactionTime: string
  /** The sets whose pages are being written, outermost first. */
  readonly #open: SetValue[] = []

  constructor(call: Call, transactionTime: string) {
    this.call = call
    this.transactionTime = transactionTime
  }

  encode(value: Doc | SetValue, tagged: boolean): string {
    if (!(value instanceof SetValue)) return 'null'
    const text = this.#shown(value, shown => encodeJson(shown, this, tagged))
    return tagged ? `{"@set":${text}}` : text
  }

  decorate(value: Doc | SetValue, level: number): string {
    return value instanceof SetValue ? this.#shown(value, shown => decorate(shown, this, level)) : 'null'
  }

  #shown(set: SetValue, write: (shown: Struct | string) => string): string {
    const open = this.#open
    if (open.length >= levelsShown || open.some(each => equals(each, set))) {
      const { now } = this.call.evaluation
      const start = { set: lazy(set), from: undefined, time: now, size: lazy(set).pageSize }
      return write(sealCursor(start, this.call))
    }
    open.push(set)
    const { data, after } = firstPage(set, lazy(set).pageSize, this.call)
    const page = new Map<string, Value>([['data', data]])
    if (after !== undefined) page.set('after', after)
    const text = write(page)
    open.pop()
    return text
  }
}

/** The JSON text of a result; where the time of the transaction stands, it has `timeMark` as it is. */
export function renderResult(value: Value, format: string, timeMark: string, call: Call): string {
  const rendering = new ResultRendering(call, timeMark)
  if (format !== 'decorated') return encodeJson(value, rendering, format === 'tagged')
  // Quoted around the marks, which would be escaped.
  const pieces = decorate(value, rendering).split(timeMark)
  return `"${pieces.map(piece => quoteJson(piece).slice(1, -1)).join(timeMark)}"`
}
