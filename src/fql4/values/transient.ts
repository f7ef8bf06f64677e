// Runtime values of version 4 that are never stored: sets, pages and events. A set value is only a description. The
// elements of the set are read on demand.

import {
  type ActionName,
  instant,
  type Lambda,
  type Micros,
  type ObjectValue,
  Ref,
  type TransactionTime,
  Transient,
  type Value,
} from '../../values/value.ts'

/**
 * The description of a set, without its elements. Native collections are sets, too, but their values are plain
 * references.
 */
export type SetShape =
  | { readonly type: 'match'; readonly index: Ref; readonly terms: readonly Value[] }
  | { readonly type: 'documents'; readonly collection: Ref }
  | { readonly type: 'singleton'; readonly ref: Ref }
  | { readonly type: 'events'; readonly source: SetLike }
  | { readonly type: 'union' | 'intersection' | 'difference'; readonly sets: readonly SetLike[] }
  | { readonly type: 'distinct' | 'reverse'; readonly source: SetLike }
  | { readonly type: 'join'; readonly source: SetLike; readonly with: Lambda | Ref }
  | { readonly type: 'filter'; readonly source: SetLike; readonly lambda: Lambda }
  | {
      readonly type: 'range'
      readonly source: SetLike
      readonly from: readonly Value[]
      readonly to: readonly Value[]
    }

/** A set as a value. */
export class SetValue extends Transient {
  readonly kind = 'set'
  readonly shape: SetShape
  constructor(shape: SetShape) {
    super()
    this.shape = shape
  }

  storedForm(): Value {
    return this.shape.type === 'singleton' ? this.shape.ref : new Map([['@set', storedBody(this.shape)]])
  }

  parts(): readonly Value[] {
    // All members of a shape are values.
    return [new Map<string, Value>(Object.entries(this.shape))]
  }
}

/** A set, or a reference used as a set: a native collection (all its documents) or a document (itself). */
export type SetLike = SetValue | Ref

/** A member of the content of `@set`. */
export type SetPart = { readonly key: string } & (
  | { readonly kind: 'value'; readonly value: Value }
  /** An inner set that is written without `@set`. */
  | { readonly kind: 'body'; readonly shape: SetShape }
  | { readonly kind: 'lambda'; readonly lambda: Lambda }
  | { readonly kind: 'sets'; readonly items: readonly SetLike[] }
  | { readonly kind: 'values'; readonly items: readonly Value[] }
)

const valuePart = (key: string, value: Value): SetPart => ({ key, kind: 'value', value })
const valuesPart = (key: string, items: readonly Value[]): SetPart => ({ key, kind: 'values', items })

/** The content of `@set` for a set, in order. */
export function setParts(shape: SetShape): readonly SetPart[] {
  switch (shape.type) {
    case 'match': {
      const match = valuePart('match', shape.index)
      return shape.terms.length === 0 ? [match] : [match, valuesPart('terms', shape.terms)]
    }
    case 'documents':
      return [valuePart('documents', shape.collection)]
    case 'singleton':
      return [valuePart('singleton', shape.ref)]
    case 'events': {
      const { source } = shape
      if (!(source instanceof SetValue)) return [valuePart('events', source)]
      return [{ key: 'events', kind: 'body', shape: source.shape }]
    }
    case 'union':
    case 'intersection':
    case 'difference':
      return [{ key: shape.type, kind: 'sets', items: shape.sets }]
    case 'distinct':
    case 'reverse':
      return [valuePart(shape.type, shape.source)]
    case 'join': {
      const { source, with: link } = shape
      const linked: SetPart =
        link instanceof Ref ? valuePart('with', link) : { key: 'with', kind: 'lambda', lambda: link }
      return [valuePart('join', source), linked]
    }
    case 'filter':
      return [{ key: 'filter', kind: 'lambda', lambda: shape.lambda }, valuePart('collection', shape.source)]
    case 'range':
      return [valuePart('range', shape.source), valuesPart('from', shape.from), valuesPart('to', shape.to)]
  }
}

function storedBody(shape: SetShape): ObjectValue {
  return new Map(setParts(shape).map(part => [part.key, storedPart(part)]))
}

function storedPart(part: SetPart): Value {
  switch (part.kind) {
    case 'value':
      return part.value
    case 'body':
      return storedBody(part.shape)
    case 'lambda':
      return rawLambda(part.lambda)
    case 'sets':
    case 'values': {
      // A single item is written without an array.
      const [only] = part.items
      return part.items.length === 1 && only !== undefined ? only : part.items
    }
  }
}

function rawLambda(lambda: Lambda): ObjectValue {
  return new Map<string, Value>([
    ['api_version', lambda.apiVersion],
    ['lambda', lambda.parameters],
    ['expr', lambda.body],
  ])
}

// Events of histories and their actions as values of version 4.

/** The action of an event. It renders like a string but has its own type. */
export class Action extends Transient {
  readonly kind = 'action'
  readonly name: ActionName
  constructor(name: ActionName) {
    super()
    this.name = name
  }

  override get word(): string {
    return this.name
  }

  storedForm(): string {
    return this.name
  }

  parts(): readonly Value[] {
    return [this.name]
  }
}

/** An entry of a history: of a document (create, update, delete) or of a set (add, remove). */
export class EventValue extends Transient {
  readonly kind = 'event'
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  /** Absent in cursors without a document. */
  readonly document: Ref | undefined
  /** A document's changed top-level fields (rendering shows only `data`); null when there are none. */
  readonly fields: ObjectValue | null
  /** The covered values of an entry in the history of a set. */
  readonly values: readonly Value[] | undefined
  constructor(
    ts: Micros | TransactionTime,
    action: ActionName,
    document: Ref | undefined,
    fields: ObjectValue | null,
    values?: readonly Value[],
  ) {
    super()
    this.ts = ts
    this.action = action
    this.document = document
    this.fields = fields
    this.values = values
  }

  /** Returns whether this is an entry in the history of a set. */
  get ofSet(): boolean {
    return this.action === 'add' || this.action === 'remove'
  }

  storedForm(): ObjectValue {
    const form = new Map<string, Value>([
      ['ts', instant(this.ts)],
      ['action', this.action],
    ])
    if (this.document) form.set('resource', this.document)
    const values = this.ofSet ? this.values : this.fields
    return values ? form.set('values', values) : form
  }

  parts(): readonly Value[] {
    return [this.ts, this.action, this.document ?? null, this.fields, this.values ?? null]
  }
}

/** A cursor of a page: a position in a set's order, or in its history. */
export type Cursor =
  | { readonly type: 'values'; readonly values: readonly Value[] }
  | { readonly type: 'event'; readonly event: EventValue }

/** A cursor as a value: an array of values, or the event at its position. */
export function cursorValue(cursor: Cursor): Value {
  return cursor.type === 'values' ? cursor.values : cursor.event
}

const noPositions = (): readonly Cursor[] => []

/** Some consecutive elements of a set, with cursors to the previous and the next page. */
export class Page extends Transient {
  readonly kind = 'page'
  readonly data: readonly Value[]
  readonly before: Cursor | undefined
  readonly after: Cursor | undefined
  readonly #positions: () => readonly Cursor[]
  /** `positions` is called only when the positions are needed, which is rare. */
  constructor(
    data: readonly Value[],
    before: Cursor | undefined,
    after: Cursor | undefined,
    positions: () => readonly Cursor[] = noPositions,
  ) {
    super()
    this.data = data
    this.before = before
    this.after = after
    this.#positions = positions
  }

  /**
   * For each element of `data`, the cursor of a page that begins with this element. `take` and `drop` use these
   * cursors.
   */
  get positions(): readonly Cursor[] {
    return this.#positions()
  }

  storedForm(): ObjectValue {
    const form = new Map<string, Value>()
    if (this.before) form.set('before', cursorValue(this.before))
    if (this.after) form.set('after', cursorValue(this.after))
    return form.set('data', this.data)
  }

  parts(): readonly Value[] {
    const partOf = (cursor: Cursor | undefined) => cursor !== undefined && cursorValue(cursor)
    return [this.data, partOf(this.before), partOf(this.after)]
  }
}

/** An element of a page that was requested with `sources`. */
export class ElementWithSources extends Transient {
  readonly kind = 'element'
  readonly value: Value
  readonly sources: readonly Value[]
  constructor(value: Value, sources: readonly Value[]) {
    super()
    this.value = value
    this.sources = sources
  }

  storedForm(): ObjectValue {
    return new Map<string, Value>([
      ['value', this.value],
      ['sources', this.sources],
    ])
  }

  parts(): readonly Value[] {
    return [this.value, this.sources]
  }
}
