// Renders values as the JSON text of responses. Text is concatenated directly, without an intermediate tree, because
// rendering is a large part of the cost of a page.

import { unreachable } from '../../base/assert.ts'
import { longCall, step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { encodeBase64 } from '../../values/base64.ts'
import { formatDate } from '../../values/date.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { completeJsonObject, flat, type JsonPiece, jsonObject, quoteJson } from '../../values/json-text.ts'
import { formatMicros, formatTime } from '../../values/time.ts'
import {
  type ActionName,
  collectionOf,
  type DocumentValue,
  type Lambda,
  type Micros,
  native,
  type ObjectValue,
  type RefTails,
  type RenderCache,
  type TransactionTime,
  type Value,
} from '../../values/value.ts'
import type { Tagged } from '../values/tagged.ts'
import {
  type Cursor,
  type ElementWithSources,
  type EventValue,
  type Page,
  type SetPart,
  type SetShape,
  setParts,
} from '../values/transient.ts'
import { type RefNames, RefPrinter } from './refs.ts'
import { type ApiVersion, isAtLeast } from './version.ts'

const renderLimits = {
  /** Maximum size of a response: its values, plus the characters of its strings; own limit. */
  answerUnitsMax: 67_108_864,
} as const

export interface RenderContext {
  readonly apiVersion: ApiVersion
  readonly names: RefNames
  /**
   * The commit time. If `open`, the text contains placeholders, which {@link fillTransactionTime} replaces. If
   * undefined, the time of the transaction is unprintable.
   */
  readonly transactionTime?: Micros | 'open' | undefined
}

/**
 * Placeholders for the unknown time of the transaction: `micros` for microseconds, `time` for ISO text. JSON text never
 * contains these characters.
 */
const timePlaceholders = { micros: '\u0000', time: '\u0001' } as const

export function transactionTimePlaceholder({ unit }: TransactionTime): string {
  return timePlaceholders[unit]
}

/** Replaces the placeholders in `text` by `time`, the time of the transaction. */
export function fillTransactionTime(text: string, time: Micros): string {
  const filled = text.includes(timePlaceholders.micros)
    ? text.replaceAll(timePlaceholders.micros, String(time))
    : text
  if (!filled.includes(timePlaceholders.time)) return filled
  return filled.replaceAll(timePlaceholders.time, formatMicros(time))
}

/**
 * Renders a value as compact JSON. Returns undefined for an unprintable value: a reference to an object that never had
 * a name, or the time of the transaction if `context.transactionTime` is undefined. Objects and arrays omit unprintable
 * values. A cursor with an unprintable value becomes null.
 *
 * Throws {@link RequestError} if the value is nested deeper than `limits.valueDepthMax`, or if the response exceeds
 * `renderLimits.answerUnitsMax`. Even a value that is small in memory can have a huge text, because it can contain the
 * same array many times.
 */
export function renderValue(value: Value, context: RenderContext): string | undefined {
  return new Renderer(context).value(value)
}

function tooLong(): RequestError {
  return new RequestError(
    'bad request',
    msg`Answer exceeds the limit of ${renderLimits.answerUnitsMax} characters.`,
  )
}

const atSign = 0x40

/** Number of characters of cached text that cost one step of effort (src/base/effort.ts). */
const cachedCharsPerStep = 64

class Renderer {
  readonly #apiVersion: string
  readonly #transactionTime: Micros | 'open' | undefined
  readonly #refs: RefPrinter
  readonly #tails: RefTails | undefined
  /** True for the oldest API version, whose JSON differs most. */
  readonly #oldest: boolean
  /** True for API versions with the keys `class` and `instance` instead of `collection` and `document`. */
  readonly #older: boolean
  #depth = 0
  /** The maximum of `#depth` since the start of the current document. */
  #deepest = 0
  /** Number of rendered values, plus the number of characters of rendered strings; see `answerUnitsMax`. */
  #units = 0
  /** How often the time of the transaction has been rendered. */
  #transactionTimes = 0

  constructor(context: RenderContext) {
    this.#apiVersion = context.apiVersion
    this.#transactionTime = context.transactionTime
    this.#refs = new RefPrinter(context.names, context.apiVersion)
    this.#tails = context.names.tails
    this.#oldest = !isAtLeast(context.apiVersion, '2.1')
    this.#older = !isAtLeast(context.apiVersion, '2.7')
  }

  value(value: Value): JsonPiece {
    if (++this.#units > renderLimits.answerUnitsMax) throw tooLong()
    step()
    switch (typeof value) {
      case 'string':
        this.#units += value.length
        // The steps of shorter strings are too few to count.
        if (value.length > 64) longCall(value.length)
        return quoteJson(value)
      case 'bigint':
      case 'boolean':
        return String(value)
      case 'number':
        return Number.isFinite(value) ? javaDoubleText(value) : `"${value}"`
    }
    if (value === null) return 'null'
    if (value instanceof Map) return this.#object(value)
    if (Array.isArray(value)) return this.#array(value)
    if (value instanceof Uint8Array) return `{"@bytes":"${encodeBase64(value)}"}`
    return this.#tagged(value as Tagged)
  }

  #tagged(value: Tagged): JsonPiece {
    switch (value.kind) {
      case 'time':
        return `{"@ts":"${formatTime(value)}"}`
      case 'date':
        return `{"@date":"${formatDate(value)}"}`
      case 'uuid':
        return `{"@uuid":"${value.text}"}`
      case 'ref':
        return this.#refs.print(value)
      case 'unresolved':
        return this.#refs.printUnresolved(value)
      case 'document':
        return this.#document(value)
      case 'page':
        return this.#page(value)
      case 'set':
        return tag('@set', this.#setBody(value.shape))
      case 'lambda':
        return tag('@query', this.#query(value))
      case 'transaction time':
        return this.#timestamp(value)
      case 'action':
        return this.#action(value.name)
      case 'event':
        return this.#event(value)
      case 'element':
        return this.#element(value)
      default:
        return unreachable(value)
    }
  }

  #enter(): void {
    if (++this.#depth > this.#deepest) this.#deepest = this.#depth
    if (this.#depth > limits.valueDepthMax) {
      throw new RequestError('bad request', msg`Value is nested deeper than ${limits.valueDepthMax} levels.`)
    }
  }

  #array(items: readonly Value[]): string {
    this.#enter()
    let text = ''
    for (const item of items) {
      const rendered = this.value(item)
      if (rendered !== undefined) text += text === '' ? rendered : `,${rendered}`
    }
    this.#depth--
    return `[${text}]`
  }

  #object(fields: ObjectValue): string {
    const text = `{${this.#members(fields)}}`
    for (const key of fields.keys()) if (key.charCodeAt(0) === atSign) return `{"@obj":${text}}`
    return text
  }

  /** Renders the members of an object without the braces. */
  #members(fields: ObjectValue): string {
    this.#enter()
    let text = ''
    for (const [key, value] of fields) {
      const rendered = this.value(value)
      if (rendered === undefined) continue
      if (text !== '') text += ','
      text += `${quoteJson(key)}:${rendered}`
    }
    this.#depth--
    return text
  }

  /** Renders the body of a lambda. An unprintable argument becomes null. */
  #code(body: Value): JsonPiece {
    step()
    if (body instanceof Map) return this.#call(body)
    if (!Array.isArray(body)) return this.value(body)
    this.#enter()
    const elements = body.map(part => this.#code(part) ?? 'null')
    this.#depth--
    return `[${elements.join()}]`
  }

  /** Renders the call of a function. The members of `object` and `let` have names that the client has chosen. */
  #call(call: ObjectValue): string {
    this.#enter()
    let text = ''
    for (const [key, part] of call) {
      const hasFields = key === 'object' || key === 'let'
      const rendered = hasFields ? this.#codeFields(part) : this.#code(part)
      text += `${text === '' ? '' : ','}${quoteJson(key)}:${rendered ?? 'null'}`
    }
    this.#depth--
    return `{${text}}`
  }

  /**
   * Renders the fields of `object` or the bindings of `let`. Bindings in a list of objects become the members of one
   * object, which may have a name several times.
   */
  #codeFields(fields: Value): JsonPiece {
    if (Array.isArray(fields)) return `{${fields.map(binding => this.#codeMembers(binding)).join()}}`
    if (!(fields instanceof Map)) return this.value(fields)
    const wrapped = fields.size === 1 ? fields.get('@obj') : undefined
    return wrapped instanceof Map
      ? `{"@obj":{${this.#codeMembers(wrapped)}}}`
      : `{${this.#codeMembers(fields)}}`
  }

  #codeMembers(fields: ObjectValue): string {
    this.#enter()
    const members = [...fields].map(([name, part]) => `${quoteJson(name)}:${this.#code(part) ?? 'null'}`)
    this.#depth--
    return members.join()
  }

  /** Returns undefined if a member is unprintable. */
  #setBody(shape: SetShape): JsonPiece {
    this.#enter()
    const members: Record<string, JsonPiece> = {}
    // Sets may be nested deeply. An indexed loop needs less stack than an iterator.
    const parts = setParts(shape)
    for (let index = 0; index < parts.length; index++) this.#addPart(parts[index] as SetPart, members)
    this.#depth--
    return completeJsonObject(members)
  }

  #addPart(part: SetPart, members: Record<string, JsonPiece>): void {
    if (part.kind === 'value') members[part.key] = this.value(part.value)
    else if (part.kind === 'body') members[part.key] = this.#setBody(part.shape)
    else if (part.kind === 'lambda') members[part.key] = this.#lambda(part.lambda)
    else if (isAlone(part.items)) members[part.key] = this.value(part.items[0] as Value)
    else
      members[part.key] = part.kind === 'values' ? this.#array(part.items) : this.#completeArray(part.items)
  }

  /** Returns undefined if an item is unprintable. */
  #completeArray(items: readonly Value[]): JsonPiece {
    let text = ''
    for (let index = 0; index < items.length; index++) {
      const printed = this.value(items[index] as Value)
      if (printed === undefined) return undefined
      text += text === '' ? printed : `,${printed}`
    }
    return `[${text}]`
  }

  /** `api_version` is omitted if the lambda's and the client's API version are both older than 3. */
  #lambda({ apiVersion, body, parameters }: Lambda): JsonPiece {
    const code = { lambda: this.#code(parameters), expr: this.#code(body) }
    if (!isAtLeast(apiVersion, '3') && !isAtLeast(this.#apiVersion, '3')) return completeJsonObject(code)
    return completeJsonObject({ api_version: quoteJson(apiVersion), ...code })
  }

  #query(lambda: Lambda): JsonPiece {
    this.#enter()
    const text = this.#lambda(lambda)
    this.#depth--
    return text
  }

  #element(element: ElementWithSources): string {
    this.#enter()
    const value = this.value(element.value)
    this.#depth--
    return jsonObject({ value, sources: this.#array(element.sources) })
  }

  #document(document: DocumentValue): string {
    const { renderCache } = document
    if (renderCache === undefined || this.#tails === undefined) return this.#newDocument(document)
    return (
      this.#cachedText(renderCache) ??
      this.#cacheText(renderCache, this.#tails, () => this.#newDocument(document))
    )
  }

  #newDocument({ fields, ref, ts: time }: DocumentValue): string {
    const printed = this.#refs.print(ref)
    const ts = this.#timestamp(time)
    const members = this.#members(ref.collection === native.indexes ? this.#indexFields(fields) : fields)
    let text = printed === undefined ? '' : `"ref":${printed}`
    if (this.#oldest && printed !== undefined) text += `,"class":${this.#refs.print(collectionOf(ref))}`
    if (ts !== undefined) text += text === '' ? `"ts":${ts}` : `,"ts":${ts}`
    if (members !== '') text += text === '' ? members : `,${members}`
    return `{${text}}`
  }

  /** Returns undefined if the cache is outdated, or if the text would exceed a limit. */
  #cachedText({ depth, tails, text, units }: RenderCache): string | undefined {
    if (text === undefined || tails !== this.#tails) return undefined
    const isWithin =
      this.#units + units <= renderLimits.answerUnitsMax && this.#depth + depth <= limits.valueDepthMax
    if (!isWithin) return undefined
    step(1 + Math.floor(text.length / cachedCharsPerStep))
    this.#units += units
    return text
  }

  /** Caches the text if it depends only on the value and `tails`. */
  #cacheText(cache: RenderCache, tails: RefTails, render: () => string): string {
    // The cached text is missing or too long for this response.
    if (cache.tails === tails) return render()
    const [units, dependent, deepest] = [this.#units, this.#dependent, this.#deepest]
    this.#deepest = this.#depth
    const text = render()
    cache.units = this.#units - units
    cache.depth = this.#deepest - this.#depth
    cache.text = this.#dependent === dependent ? flat(text) : undefined
    cache.tails = tails
    this.#deepest = Math.max(this.#deepest, deepest)
    return text
  }

  /** Counts rendered parts that must not be cached: their text depends on more than the value and `RefTails`. */
  get #dependent(): number {
    return this.#transactionTimes + this.#refs.uncacheable
  }

  /** The key in `source` is `class` for older clients, and `collection` for other clients. */
  #indexFields(fields: ObjectValue): ObjectValue {
    const source = fields.get('source')
    return source === undefined ? fields : new Map(fields).set('source', respellSource(source, this.#older))
  }

  #timestamp(ts: Micros | TransactionTime): JsonPiece {
    if (typeof ts === 'number') return String(ts)
    this.#transactionTimes++
    const micros = this.#transactionTime
    if (micros === undefined) return undefined
    if (micros === 'open')
      return ts.unit === 'micros' ? timePlaceholders.micros : `{"@ts":"${timePlaceholders.time}"}`
    return ts.unit === 'micros' ? String(micros) : `{"@ts":"${formatMicros(micros)}"}`
  }

  #page(page: Page): string {
    this.#enter()
    const before = page.before && this.#cursor(page.before)
    const after = page.after && this.#cursor(page.after)
    this.#depth--
    return jsonObject({ before, after, data: this.#array(page.data) })
  }

  #cursor(cursor: Cursor): string {
    if (cursor.type === 'event') return jsonObject(this.#eventMembers(cursor.event))
    const parts: string[] = []
    for (const value of cursor.values) {
      const part = this.value(value)
      // A cursor without the unprintable value would be a different position.
      if (part === undefined) return 'null'
      parts.push(part)
    }
    return `[${parts.join(',')}]`
  }

  #event(event: EventValue): string {
    const members = this.#eventMembers(event)
    return jsonObject(
      event.ofSet ? members : { ...members, data: this.value(event.fields?.get('data') ?? null) },
    )
  }

  /** Omits the data of a document. Cursors contain the same members. */
  #eventMembers({ ts, action, document, values }: EventValue): Record<string, JsonPiece> {
    return {
      ts: this.#timestamp(ts),
      action: this.#action(action),
      [this.#oldest ? 'resource' : this.#older ? 'instance' : 'document']:
        document && this.#refs.print(document),
      [this.#oldest ? 'values' : 'data']: values && values.length > 0 ? this.#array(values) : undefined,
    }
  }

  /** The oldest API version has only the actions `create` and `delete`. */
  #action(action: ActionName): string {
    if (!this.#oldest) return `"${action}"`
    return action === 'delete' || action === 'remove' ? '"delete"' : '"create"'
  }
}

/** An item that is an array stays inside the list, because clients would parse it as a list of several items. */
function isAlone(items: readonly Value[]): boolean {
  return items.length === 1 && !Array.isArray(items[0])
}

function tag(name: '@set' | '@query', body: JsonPiece): JsonPiece {
  return body && `{"${name}":${body}}`
}

function respellSource(source: Value, older: boolean): Value {
  if (Array.isArray(source)) return source.map(part => respellSource(part, older))
  if (!(source instanceof Map)) return source
  const [from, to] = older ? ['collection', 'class'] : ['class', 'collection']
  const respelled = new Map<string, Value>()
  for (const [key, value] of source) respelled.set(key === from ? to : key, value)
  return respelled
}
