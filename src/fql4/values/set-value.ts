// Sets as values of version 4. They are lazy: a set is only a description, which is read on demand.

import { type Lambda, type ObjectValue, Ref, Transient, type Value } from '../../values/value.ts'

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

/** A part of a set in the written form. */
export type SetPart = { readonly key: string } & (
  | { readonly kind: 'value'; readonly value: Value }
  /** A set without its own `@set`. */
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
      // A single item is written alone, several as an array.
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
