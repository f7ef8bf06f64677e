// Sets as values of version 4: recipes, which are read when they are needed.

import { type Lambda, type ObjectValue, Ref, Transient, type Value } from '../../values/value.ts'

/** A set: a recipe, not its elements. Native collections are sets too, but stay plain references. */
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
    return this.shape.type === 'singleton' ? this.shape.ref : new Map([['@set', setBody(this.shape)]])
  }

  parts(): readonly Value[] {
    // A shape consists of values only.
    return [new Map<string, Value>(Object.entries(this.shape))]
  }
}

/** A set, or a reference that stands for one: a native collection (all its documents) or a document (itself). */
export type SetLike = SetValue | Ref

/** What stands inside `@set` for a set. */
function setBody(shape: SetShape): ObjectValue {
  switch (shape.type) {
    case 'match':
      return new Map<string, Value>([
        ['match', shape.index],
        ...(shape.terms.length > 0 ? ([['terms', bare(shape.terms)]] as const) : []),
      ])
    case 'documents':
      return new Map([['documents', shape.collection]])
    case 'singleton':
      return new Map([['singleton', shape.ref]])
    case 'events':
      return new Map([['events', eventsBody(shape.source)]])
    case 'union':
    case 'intersection':
    case 'difference':
      return new Map([[shape.type, bare(shape.sets)]])
    case 'distinct':
    case 'reverse':
      return new Map([[shape.type, shape.source]])
    case 'join':
      return new Map<string, Value>([
        ['join', shape.source],
        ['with', shape.with instanceof Ref ? shape.with : rawLambda(shape.with)],
      ])
    case 'filter':
      return new Map<string, Value>([
        ['filter', rawLambda(shape.lambda)],
        ['collection', shape.source],
      ])
    case 'range':
      return new Map<string, Value>([
        ['range', shape.source],
        ['from', bare(shape.from)],
        ['to', bare(shape.to)],
      ])
  }
}

/** A single item stands alone, several stand in an array. */
function bare(items: readonly Value[]): Value {
  return items.length === 1 ? (items[0] as Value) : items
}

/** The source of events is written without a `@set` of its own. */
function eventsBody(source: SetLike): Value {
  return source instanceof SetValue ? setBody(source.shape) : source
}

function rawLambda(lambda: Lambda): ObjectValue {
  return new Map<string, Value>([
    ['api_version', lambda.apiVersion],
    ['lambda', lambda.parameters],
    ['expr', lambda.body],
  ])
}
