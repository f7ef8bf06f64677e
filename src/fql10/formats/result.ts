// Renders the documents and sets in a result. A document is rendered with all fields, but within another document as a
// reference. A set is rendered as its first page. Within a document, within a page of the same set, or deeper than the
// maximum depth of pages, a set is rendered as a cursor.

import { quoteJson } from '../../values/json-text.ts'
import type { Call } from '../call.ts'
import { cursorOf, firstPage } from '../sets/pages.ts'
import { haveSameEncoding } from '../sets/saved-values.ts'
import { Doc, Id, type SetValue, type Struct, type Value } from '../value.ts'
import { decorate, decoratedTime, encodeJson, quoteDecorated, type Rendering } from './rendering.ts'

/** Maximum depth of nested pages. */
const pageDepthMax = 10

/** `within` contains the sets whose pages enclose the current value. */
class ResultRendering implements Rendering {
  readonly call: Call
  readonly transactionTime: () => string
  readonly #within: readonly SetValue[]
  readonly #inDocument: boolean

  constructor(
    call: Call,
    transactionTime: () => string,
    within: readonly SetValue[] = [],
    inDocument = false,
  ) {
    this.call = call
    this.transactionTime = transactionTime
    this.#within = within
    this.#inDocument = inDocument
  }

  encode(value: Doc | SetValue, tagged: boolean): string {
    return value instanceof Doc ? this.#encodeDoc(value, tagged) : this.#encodeSet(value, tagged)
  }

  #encodeDoc(doc: Doc, tagged: boolean): string {
    const { world } = this.call.evaluation
    if (this.#inDocument) return this.#encodeReference(doc, undefined, tagged)
    const absence = world.documents.absence(doc, this.call, true)
    if (absence !== undefined) return tagged ? this.#encodeReference(doc, absence.cause, true) : 'null'
    const stored = world.documents.storedText(doc, tagged, this.call)
    const text =
      stored === undefined
        ? encodeJson(world.documents.fields(doc, this.call), this.#insideDocument(), tagged)
        : `{"id":"${doc.ref.idText}","coll":${encodeJson(doc.collection, this, tagged)},${stored}}`
    return tagged ? `{"@doc":${text}}` : text
  }

  #encodeReference(doc: Doc, cause: string | undefined, tagged: boolean): string {
    const fields = referenceFields(doc)
    if (cause !== undefined) {
      fields.set('exists', false)
      fields.set('cause', cause)
    }
    const text = encodeJson(fields, this, tagged)
    return tagged ? `{"@ref":${text}}` : text
  }

  #insideDocument(): ResultRendering {
    return new ResultRendering(this.call, this.transactionTime, this.#within, true)
  }

  #encodeSet(set: SetValue, tagged: boolean): string {
    const text = this.#isShownAsCursor(set)
      ? quoteJson(cursorOf(set, this.call).text)
      : encodeJson(...this.#pageOf(set), tagged)
    return tagged ? `{"@set":${text}}` : text
  }

  #isShownAsCursor(set: SetValue): boolean {
    if (this.#inDocument || this.#within.length >= pageDepthMax) return true
    return this.#within.some(outer => haveSameEncoding(outer, set))
  }

  #pageOf(set: SetValue): readonly [Struct, ResultRendering] {
    const page = firstPage(set, undefined, this.call)
    return [page, new ResultRendering(this.call, this.transactionTime, [...this.#within, set])]
  }

  decorate(value: Doc | SetValue, level: number): string {
    if (!(value instanceof Doc)) {
      if (this.#isShownAsCursor(value)) return quoteJson(cursorOf(value, this.call).text)
      return decorate(...this.#pageOf(value), level)
    }
    const { world } = this.call.evaluation
    if (this.#inDocument) return decorateReference(value)
    const absence = world.documents.absence(value, this.call, true)
    if (absence !== undefined) return `${decorateReference(value)} /* ${absence.cause} */`
    return decorate(world.documents.fields(value, this.call), this.#insideDocument(), level)
  }
}

function referenceFields(doc: Doc): Map<string, Value> {
  const key: [string, Value] = doc.name === undefined ? ['id', new Id(doc.ref.id)] : ['name', doc.name]
  return new Map([key, ['coll', doc.collection]])
}

/** Renders a reference, such as `Jar("1")` or `Role.byName("x")`. */
function decorateReference({ collection, name, ref }: Doc): string {
  return name === undefined ? `${collection.path}("${ref.id}")` : `${collection.path}.byName("${name}")`
}

/** `timeMark` is the unescaped placeholder for the time of the transaction. */
export function renderResult(value: Value, format: string, timeMark: string, call: Call): string {
  const time = format === 'decorated' ? decoratedTime : timeMark
  const rendering = new ResultRendering(call, () => time)
  if (format === 'decorated') return quoteDecorated(decorate(value, rendering), timeMark)
  return encodeJson(value, rendering, format === 'tagged')
}

/** `time` returns the time of the transaction. */
export function renderTagged(value: Value, time: () => string, call: Call): string {
  return encodeJson(value, new ResultRendering(call, time), true)
}

/** Renders all documents as references, and all sets as cursors. */
export function renderReferences(value: Value, call: Call): string {
  return encodeJson(value, new ResultRendering(call, () => '', [], true), false)
}
