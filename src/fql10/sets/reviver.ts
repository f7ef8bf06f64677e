// Decodes sets and values from the stored form in a cursor or a token.

import { catchError } from '../../base/catch-error.ts'
import { Ref, type Value as StoredValue, TransactionTime } from '../../values/value.ts'
import type { Call, ReadTimes } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { lambdaOf } from '../syntax/slices.ts'
import { placeholderName } from '../syntax/template.ts'
import {
  BoundFunction,
  Doc,
  EventSource,
  type FunctionValue,
  Id,
  isFunction,
  Lambda,
  Module,
  NarrowLong,
  Scope,
  SetCursor,
  SetValue,
  UserFunction,
  type Value,
  type WatchedPath,
} from '../value.ts'
import { runtimeOf } from '../world/stored-values.ts'
import { FlatMapSet, MapSet, WhereSet } from './functional.ts'
import { type LazySet, lazy, type Origin } from './lazy-set.ts'
import {
  ArraySet,
  ConcatSet,
  DistinctSet,
  DropSet,
  OrderSet,
  PagedSet,
  ReversedSet,
  SequenceSet,
  SingleSet,
  TakeSet,
} from './parts.ts'
import { absent } from './saved-values.ts'
import { missingIndex, type StoredBound, StoredSet } from './stored-set.ts'
import { TokenSet } from './token-set.ts'

/** Thrown for example if the collection of a value was deleted. */
export class RevivalError {}

/** Throws {@link RevivalError}, and the failures of calls of index functions. */
export class Reviver {
  readonly #call: Call
  /** The snapshot time for sets that were saved without a snapshot time. */
  readonly #snapshot: number | undefined

  constructor(call: Call, snapshot: number | undefined) {
    this.#call = call
    this.#snapshot = snapshot
  }

  value(stored: StoredValue): Value {
    if (stored instanceof Map) {
      return new Map(Array.from(stored, ([name, field]) => [name, this.value(field as StoredValue)]))
    }
    // Values that are encoded neither as objects nor as arrays need no decoding.
    if (!Array.isArray(stored)) return stored as Value
    const [kind, ...parts] = stored as [string, ...StoredValue[]]
    switch (kind) {
      case 'A':
        return parts.map(part => this.value(part))
      case 'T':
        return TransactionTime.time
      case 'L':
        return new NarrowLong(parts[0] as bigint)
      case 'I':
        return new Id(parts[0] as bigint)
      case 'C':
        return new SetCursor(parts[0] as string)
      case 'E':
        return new EventSource(this.#setOf(parts[0]), (parts[1] ?? undefined) as WatchedPath[] | undefined)
      case 'S':
        return this.set(parts)
    }
    return this.#other(kind, parts)
  }

  #other(kind: string, parts: readonly StoredValue[]): Value {
    switch (kind) {
      case 'D':
        return this.#document(parts)
      case 'M':
        return this.#module(parts)
      case 'F':
        return this.#lambda(parts)
      case 'B': {
        const { evaluation } = this.#call
        const name = parts[1] as string
        const found =
          parts[0] === null
            ? evaluation.global(name)
            : evaluation.member(this.value(parts[0] as StoredValue), name)
        if (found instanceof BoundFunction) return found
        throw new RevivalError()
      }
      // `U`, a user function.
      default: {
        const found = this.#call.evaluation.world.names.global(parts[0] as string)
        if (found instanceof UserFunction) return found
        throw new RevivalError()
      }
    }
  }

  #document([ref, name, readAt]: readonly StoredValue[]): Doc {
    if (!(ref instanceof Ref)) throw new RevivalError()
    const collection = this.#call.evaluation.world.documents.collectionOf(ref)
    return new Doc(ref, collection, {
      name: (name ?? undefined) as string | undefined,
      readAt: timeOf(readAt),
    })
  }

  #module([name, parent, isUser]: readonly StoredValue[]): Module {
    const { evaluation } = this.#call
    const { world } = evaluation
    const outer = parent === absent ? undefined : evaluation.global(parent as string)
    const found =
      outer !== undefined
        ? evaluation.member(outer, name as string)
        : isUser === true
          ? world.names.global(name as string)
          : evaluation.global(name as string)
    if (found instanceof Module) return found
    throw new RevivalError()
  }

  #lambda([text, placeholders, indices, variables]: readonly StoredValue[]): Lambda {
    const offsets = (placeholders as readonly bigint[]).map(Number)
    const parse = () => lambdaOf({ text: text as string, placeholders: offsets })
    const { node, source } = catchError(QueryFailure, parse, () => {
      throw new RevivalError()
    })
    // The text of a lambda contains only its own placeholders, which are numbered from 0.
    const renamed = new Map(
      (indices as readonly bigint[]).map((index, at) => [
        placeholderName(Number(index)),
        placeholderName(at),
      ]),
    )
    let scope: Scope | undefined
    for (const [name, value] of variables as ReadonlyMap<string, StoredValue>) {
      scope = new Scope(renamed.get(name) ?? name, this.value(value), scope)
    }
    return new Lambda(node, source, scope)
  }

  set([kind, ...parts]: readonly StoredValue[]): LazySet {
    const inner = () => this.#setOf(parts[0])
    const number = (part: number) => Number(parts[part])
    switch (kind) {
      case 'array':
        return new ArraySet(parts.map(part => this.value(part)))
      case 'sequence':
        return new SequenceSet(number(0), number(1), parts[2] === true)
      case 'single':
        return new SingleSet(this.value(parts[0] as StoredValue))
      case 'stored':
        return this.#stored(parts)
      case 'tokens':
        return tokensOf(parts)
      case 'concat':
        return new ConcatSet(inner(), this.#setOf(parts[1]))
      case 'take':
        return new TakeSet(inner(), number(1))
      case 'drop':
        return new DropSet(inner(), number(1))
      case 'paged':
        return new PagedSet(inner(), number(1))
      case 'distinct':
        return new DistinctSet(inner())
      case 'turned':
        return new ReversedSet(inner())
    }
    return this.#functional(kind as string, inner(), parts)
  }

  #functional(kind: string, inner: LazySet, parts: readonly StoredValue[]): LazySet {
    if (kind === 'order') {
      const orderings = (parts[1] as readonly (readonly StoredValue[])[]).map(([key, isDescending]) => ({
        key: key === absent ? undefined : this.#function(key),
        isDescending: isDescending === true,
      }))
      return new OrderSet(inner, orderings, this.#origin(parts[2]))
    }
    const applied = this.#function(parts[1])
    const origin = this.#origin(parts[2])
    switch (kind) {
      case 'where':
        return new WhereSet(inner, applied, origin)
      case 'map':
        return new MapSet(inner, applied, origin)
      case 'flatMap':
        return new FlatMapSet(inner, applied, origin, parts[3] === true)
    }
    throw new RevivalError()
  }

  #stored(parts: readonly StoredValue[]): StoredSet {
    const [collection, index, terms, from, to, isReversed, savedTimes, content] = parts
    const module = this.value(collection as StoredValue)
    if (!(module instanceof Module)) throw new RevivalError()
    const times = this.#timesOf(savedTimes)
    const bounds = { from: boundOf(from), to: boundOf(to), isReversed: isReversed === true, span: undefined }
    if (index === absent) {
      return new StoredSet({ collection: module, index: undefined, terms: [], ...bounds, ...times })
    }
    const call = this.#call.reading(times)
    const { options } = this.#indexSet(module, index as string, terms as readonly StoredValue[], call)
    return new StoredSet({
      ...options,
      ...bounds,
      content: typeof content === 'string' ? content : undefined,
    })
  }

  /** Calls an index function again. Throws the failures of the call, for example if the index was removed. */
  #indexSet(collection: Module, index: string, terms: readonly StoredValue[], call: Call): StoredSet {
    const { evaluation } = call
    const { documents } = evaluation.world
    const callee = evaluation.member(collection, index)
    if (!(callee instanceof BoundFunction)) throw missingIndex(collection, index, call)
    const documentOf = (ref: Ref) => new Doc(ref, documents.collectionOf(ref))
    const args = terms.map(term => runtimeOf(term, documentOf))
    const set = evaluation.apply(callee, args, call)
    if (set instanceof StoredSet) return set
    throw new RevivalError()
  }

  #setOf(stored: StoredValue | undefined): LazySet {
    const set = this.value(stored as StoredValue)
    if (set instanceof SetValue) return lazy(set)
    throw new RevivalError()
  }

  #function(stored: StoredValue | undefined): FunctionValue {
    const value = this.value(stored as StoredValue)
    if (isFunction(value)) return value
    throw new RevivalError()
  }

  #origin(times: StoredValue | undefined): Origin {
    return { source: this.#call.source, span: undefined, ...this.#timesOf(times) }
  }

  #timesOf(times: StoredValue | undefined): ReadTimes {
    const [at, snapshot] = (Array.isArray(times) ? times : [times]) as readonly (StoredValue | undefined)[]
    return { at: timeOf(at), snapshot: timeOf(snapshot) ?? this.#snapshot }
  }
}

function tokensOf([document, at, isReversed]: readonly StoredValue[]): TokenSet {
  if (!(document instanceof Ref)) throw new RevivalError()
  return new TokenSet({ document, at: timeOf(at), isReversed: isReversed === true })
}

function timeOf(stored: StoredValue | undefined): number | undefined {
  return typeof stored === 'bigint' ? Number(stored) : undefined
}

function boundOf(stored: StoredValue | undefined): StoredBound | undefined {
  if (!Array.isArray(stored)) return undefined
  const [values, id, isOpen] = stored as readonly StoredValue[]
  return {
    values: values as readonly StoredValue[],
    ...(typeof id === 'bigint' && { id }),
    ...(isOpen === true && { isOpen }),
  }
}
