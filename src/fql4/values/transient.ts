// Values of version 4 that exist only during a query: sets, pages and events. Documents contain only the stored forms
// of these values.

import {
  type ActionName,
  instant,
  isNativeCollectionRef,
  type Lambda,
  type Micros,
  type ObjectValue,
  Ref,
  type TransactionTime,
  Transient,
  type Value,
} from '../../values/value.ts'

/** Describes a set, whose elements are read on demand. References represent native (built-in) collections. */
export type SetShape =
  | { readonly type: 'match'; readonly index: Ref; readonly terms: readonly Value[] }
  | { readonly type: 'documents'; readonly collection: Ref }
  | { readonly type: 'singleton'; readonly ref: Ref }
  | { readonly type: 'events'; readonly source: SetLike }
  | { readonly type: 'union' | 'intersection' | 'difference'; readonly sets: readonly SetLike[] }
  | { readonly type: 'distinct'; readonly source: SetLike }
  | { readonly type: 'reverse'; readonly source: SetLike }
  | { readonly type: 'join'; readonly source: SetLike; readonly with: Lambda | Ref }
  | { readonly type: 'filter'; readonly source: SetLike; readonly lambda: Lambda }
  | {
      readonly type: 'range'
      readonly source: SetLike
      readonly from: readonly Value[]
      readonly to: readonly Value[]
    }

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
    // The cast is valid: all members of a shape are values.
    return [new Map<string, Value>(Object.entries(this.shape))]
  }
}

/** As a set, a native collection contains its documents, and the reference to a document only this document. */
export type SetLike = SetValue | Ref

/** Returns whether a value is a set or a native collection. Returns false for the reference to a document. */
export function isSet(value: Value): value is SetLike {
  return value instanceof SetValue || isNativeCollectionRef(value)
}

/** A member of the object in `@set`. */
export type SetPart = { readonly key: string } & (
  | { readonly kind: 'value'; readonly value: Value }
  /** A nested set that is rendered without the tag `@set`. */
  | { readonly kind: 'body'; readonly shape: SetShape }
  | { readonly kind: 'lambda'; readonly lambda: Lambda }
  | { readonly kind: 'sets'; readonly items: readonly SetLike[] }
  | { readonly kind: 'values'; readonly items: readonly Value[] }
)

const valuePart = (key: string, value: Value): SetPart => ({ key, kind: 'value', value })
const valuesPart = (key: string, items: readonly Value[]): SetPart => ({ key, kind: 'values', items })

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
      // A list with a single item is stored as the item.
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

/** The action of an event. Actions are rendered as strings but have their own type. */
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

/** Document histories have the actions create, update and delete, set histories add and remove. */
export class EventValue extends Transient {
  readonly kind = 'event'
  readonly ts: Micros | TransactionTime
  readonly action: ActionName
  readonly document: Ref | undefined
  /**
   * The changed fields of a document, or all fields of an inserted version. Responses contain only the field `data`.
   */
  readonly fields: ObjectValue | null
  /** The values of the index entry that was added or removed. */
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

  /** True for an event in the history of a set. */
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

/** A cursor of a page: a position in the elements of a set, or in a history. */
export type Cursor =
  | { readonly type: 'values'; readonly values: readonly Value[] }
  | { readonly type: 'event'; readonly event: EventValue }

/** Returns an array of values, or an event. */
export function cursorValue(cursor: Cursor): Value {
  return cursor.type === 'values' ? cursor.values : cursor.event
}

const noPositions = (): readonly Cursor[] => []

/** Consecutive elements of a set, with cursors to the previous and the next page. */
export class Page extends Transient {
  readonly kind = 'page'
  readonly data: readonly Value[]
  readonly before: Cursor | undefined
  readonly after: Cursor | undefined
  readonly #positions: () => readonly Cursor[]
  /** `positions` is called on demand, because the positions are rarely needed. */
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

  /** The positions of the elements in `data`, as cursors. `take` and `drop` use these cursors. */
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

/** An element of a page with the sets that contain it, if the query sets the option `sources`. */
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
