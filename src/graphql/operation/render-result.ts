// Renders the value of an operation's expression as the JSON of the response, by its plan. A null where the type forbids
// null makes the closest nullable value null, and adds an error.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { type Cursor, Page } from '../../fql4/values/transient.ts'
import { transactionTimePlaceholder } from '../../fql4/wire/render.ts'
import type { Session } from '../../model/session.ts'
import { formatDate } from '../../values/date.ts'
import { quoteJson } from '../../values/json-text.ts'
import { formatTime } from '../../values/time.ts'
import {
  DocumentValue,
  instant,
  isArray,
  isObject,
  LocalDate,
  type ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Transient,
  type Value,
} from '../../values/value.ts'
import type { ErrorEntry } from '../errors.ts'
import { encodeCursor } from './cursors.ts'
import { DocumentLines, describeLocation } from './messages.ts'
import { documentSlot, type ObjectPlan, type Plan, type PlanMember } from './result-plan.ts'

const renderLimits = {
  /** Maximum number of characters of the data in a response of GraphQL; own limit. */
  graphqlAnswerUnitsMax: 67_108_864,
  /** Maximum number of errors about values in a response of GraphQL; own limit. */
  graphqlValueErrorsMax: 100,
} as const

interface RenderedData {
  readonly data: string
  readonly errors: readonly ErrorEntry[]
}

/** The values of a response that do not come from the expression. */
interface RenderInput {
  readonly session: Session
  /** The text of the document, for the positions of errors. */
  readonly text: string
  /** The JSON of the fields `__schema` and `__type` by their names in the response. */
  readonly introspected: ReadonlyMap<string, string>
}

export function renderData(plan: Plan, value: Value, input: RenderInput): RenderedData {
  const renderer = new Renderer(input)
  const data = renderer.value(plan, value) ?? 'null'
  return { data, errors: renderer.errors }
}

const nullText = 'Cannot return null for non-nullable type'

class Renderer {
  readonly #input: RenderInput
  readonly #path: (string | number)[] = []
  readonly errors: ErrorEntry[] = []
  readonly #lines: DocumentLines
  #node: PlanMember['node'] | undefined
  #units = 0

  constructor(input: RenderInput) {
    this.#input = input
    this.#lines = new DocumentLines(input.text)
  }

  /** Returns undefined if the value is null because of an error. */
  value(plan: Plan, value: Value | undefined): string | undefined {
    step()
    switch (plan.kind) {
      case 'non-null': {
        const text = this.value(plan.of, value)
        if (text !== 'null') return text
        return this.#error(nullText)
      }
      case 'slot':
        return this.value(plan.of, isObject(value) ? value.get(plan.name) : null)
      case 'leaf':
        return value === null || value === undefined ? 'null' : this.#leaf(plan.type, value)
      case 'list':
        return this.#list(plan.of, value)
      case 'page':
        return this.#page(plan.members, value)
      case 'object':
        return this.#object(plan, value)
    }
  }

  /** `unitsBefore`: the units before the text, whose parts may already be counted. */
  #count(text: string, unitsBefore: number): string {
    this.#units = unitsBefore + text.length
    const { graphqlAnswerUnitsMax: max } = renderLimits
    if (this.#units > max)
      throw new RequestError('bad request', msg`Answer exceeds the limit of ${max} characters.`)
    return text
  }

  #error(reason: string): undefined {
    if (this.errors.length >= renderLimits.graphqlValueErrorsMax) return undefined
    const { loc } = this.#node ?? {}
    const locations = loc ? [{ line: loc.startToken.line, column: loc.startToken.column }] : []
    const message = reason + describeLocation(locations, this.#lines)
    this.errors.push({ message, locations, path: [...this.#path] })
    return undefined
  }

  #list(of: Plan, given: Value | undefined): string | undefined {
    if (given === null || given === undefined) return 'null'
    const items = given instanceof Page ? given.data : given
    if (!isArray(items)) return this.#error('The value is no list')
    const unitsBefore = this.#units
    const texts: string[] = []
    for (const [at, item] of items.entries()) {
      this.#path.push(at)
      const text = this.value(of, item)
      this.#path.pop()
      if (text === undefined && of.kind === 'non-null') return undefined
      texts.push(text ?? 'null')
    }
    return this.#count(`[${texts.join(',')}]`, unitsBefore)
  }

  #members(
    members: readonly PlanMember[],
    textOfMember: (member: PlanMember) => string | undefined,
  ): string | undefined {
    const unitsBefore = this.#units
    let text = ''
    for (const member of members) {
      const outer = this.#node
      this.#node = member.node
      this.#path.push(member.key)
      const value = textOfMember(member)
      this.#path.pop()
      this.#node = outer
      if (value === undefined && member.plan.kind === 'non-null') return undefined
      text += `${text === '' ? '' : ','}"${member.key}":${value ?? 'null'}`
    }
    return this.#count(`{${text}}`, unitsBefore)
  }

  #page(members: readonly PlanMember[], value: Value | undefined): string | undefined {
    if (value === null || value === undefined) return 'null'
    const isPage = value instanceof Page
    const stored = !isPage && value instanceof Transient ? value.storedForm() : value
    if (!isPage && !isArray(stored) && !isObject(stored)) return this.#error('The value is no page')
    const part = (name: 'data' | 'after' | 'before'): Value | Cursor | undefined => {
      if (isPage) return value[name]
      if (isArray(stored)) return name === 'data' ? stored : undefined
      return (stored as ObjectValue).get(name)
    }
    return this.#members(members, ({ plan, source }) => {
      switch (source.kind) {
        case 'text':
          return quoteJson(source.text)
        case 'after':
        case 'before': {
          const cursor = part(source.kind)
          if (cursor === undefined || cursor === null) return 'null'
          return quoteJson(encodeCursor(source.kind, cursor, this.#input.session))
        }
        default:
          return this.value(plan, part('data') as Value | undefined)
      }
    })
  }

  #object(plan: ObjectPlan, given: Value | undefined): string | undefined {
    if (given === null || given === undefined) return 'null'
    const slots = plan.hasSlots ? (given as ObjectValue) : undefined
    // The root object has slots, but no document.
    const document = slots === undefined ? given : (slots.get(documentSlot) ?? slots)
    const object = new SourceObject(document, plan.isEntity)
    if (!object.isObject) return this.#error('The value is no object')
    return this.#members(plan.members, ({ key, plan: inner, source }) => {
      switch (source.kind) {
        case 'text':
          return quoteJson(source.text)
        case 'introspection':
          return this.#input.introspected.get(key) ?? 'null'
        case 'slot':
          return this.value(inner, slots?.get(source.name))
        case 'id':
          return this.value(inner, object.ref)
        case 'ts':
          return this.value(inner, object.ts)
        default:
          return this.value(inner, 'name' in source ? object.field(source.name) : undefined)
      }
    })
  }

  #leaf(type: string, value: Value): string | undefined {
    const text = leafText(type, value)
    return text === undefined
      ? this.#error(`The value cannot be represented as '${type}'`)
      : this.#count(text, this.#units)
  }
}

/** A document, or an object in its place. */
class SourceObject {
  readonly #document: DocumentValue | undefined
  readonly #object: ObjectValue | undefined
  readonly #data: ObjectValue | undefined

  constructor(value: Value, isEntity: boolean) {
    if (value instanceof DocumentValue && isEntity) this.#document = value
    else {
      const stored = value instanceof Transient ? value.storedForm() : value
      this.#object = isObject(stored) ? stored : undefined
    }
    const data = isEntity ? (this.#document?.fields ?? this.#object)?.get('data') : this.#object
    this.#data = isObject(data) ? data : undefined
  }

  get isObject(): boolean {
    return this.#document !== undefined || this.#object !== undefined
  }

  get ref(): Value | undefined {
    return this.#document?.ref ?? this.#object?.get('ref')
  }

  get ts(): Value | undefined {
    return this.#document ? instant(this.#document.ts) : this.#object?.get('ts')
  }

  field(name: string): Value | undefined {
    return this.#data?.get(name)
  }
}

/** Returns the JSON of a scalar; undefined if the type cannot represent the value. */
function leafText(type: string, value: Value): string | undefined {
  if (value instanceof TransactionTime) {
    const placeholder = transactionTimePlaceholder(value)
    if (type === 'Long') return value.unit === 'micros' ? placeholder : undefined
    return type === 'Time' || type === 'String' ? `"${placeholder}"` : undefined
  }
  switch (type) {
    case 'Boolean':
      return typeof value === 'boolean' ? String(value) : undefined
    case 'Int':
    case 'Long':
      return integerText(value)
    case 'Float':
      if (typeof value === 'bigint') return String(value)
      return typeof value === 'number' && Number.isFinite(value) ? JSON.stringify(value) : undefined
    default: {
      const text = textOf(value)
      return text === undefined ? undefined : quoteJson(text)
    }
  }
}

function integerText(value: Value): string | undefined {
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}

/** Returns the text of a value in a field whose type is a text. */
function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean' || typeof value === 'number')
    return String(value)
  if (value instanceof Ref) return value.idText
  if (value instanceof LocalDate) return formatDate(value)
  if (value instanceof Time) return formatTime(value)
  return value instanceof Transient ? value.word : undefined
}
