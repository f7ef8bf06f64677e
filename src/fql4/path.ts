// Finds values by path, for `select`, `contains_path` and similar functions.

import { step as countStep } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Session } from '../model/session.ts'
import {
  collectionOf,
  DocumentValue,
  instant,
  isArray,
  isNativeCollectionRef,
  isObject,
  namedNatives,
  native,
  nativeName,
  Ref,
  rootDatabase,
  type Value,
} from '../values/value.ts'
import type { PathStep } from './arguments.ts'
import { supportsVersion } from './definition.ts'
import {
  Action,
  cursorValue,
  ElementWithSources,
  EventValue,
  Page,
  type SetShape,
  SetValue,
} from './values/transient.ts'

/** Returns undefined if the path leads to no value. */
export function valueAt(path: readonly PathStep[], from: Value, session: Session): Value | undefined {
  let value: Value | undefined = from
  for (let index = 0; index < path.length && value !== undefined; ) {
    countStep()
    if (value instanceof SetValue) {
      const part = intoSet(value, path[index] as PathStep, path[index + 1])
      value = part?.value
      index += part?.steps ?? 1
    } else value = stepInto(value, path[index++] as PathStep, session)
  }
  return value
}

/** In an array, a step that is a name is applied to each element. Arrays at the end of the path are flattened. */
export function valuesAt(path: readonly PathStep[], from: Value, session: Session): readonly Value[] {
  const found: Value[] = []
  gather({ path, session, found }, 0, from)
  return found
}

interface PathSearch {
  readonly path: readonly PathStep[]
  readonly session: Session
  readonly found: Value[]
}

/**
 * Follows the steps from the index `at` on, and adds the values to `search.found`. Throws `bad request` if the result
 * exceeds the maximum length of an array.
 */
function gather(search: PathSearch, at: number, from: Value): void {
  const { session, found, path } = search
  let value: Value | undefined = from
  for (let index = at; value !== undefined; ) {
    countStep()
    const step = path[index]
    if (isArray(value) && typeof step !== 'bigint') {
      for (const element of value) gather(search, index, element)
      return
    }
    if (step === undefined) {
      if (found.length >= limits.arrayElementsMax) throw tooLong()
      found.push(value)
      return
    }
    if (value instanceof SetValue) {
      const part = intoSet(value, step, path[index + 1])
      value = part?.value
      index += part?.steps ?? 1
    } else {
      value = stepInto(value, step, session)
      index++
    }
  }
}

function tooLong(): RequestError {
  return new RequestError('bad request', msg`Array exceeds max length. Max: ${limits.arrayElementsMax}.`)
}

function stepInto(value: Value, step: PathStep, session: Session): Value | undefined {
  if (isObject(value)) return typeof step === 'string' ? value.get(step) : undefined
  if (isArray(value)) return typeof step === 'bigint' && step >= 0n ? value[Number(step)] : undefined
  if (value instanceof Page) return intoPage(value, step)
  if (typeof step !== 'string') return undefined
  if (value instanceof DocumentValue) return intoDocument(value, step)
  if (value instanceof Ref) return intoRef(value, step, session)
  if (value instanceof EventValue) return intoEvent(value, step)
  if (value instanceof ElementWithSources) {
    return step === 'value' ? value.value : step === 'sources' ? value.sources : undefined
  }
  return undefined
}

/** Returns the value of the step `@set`, and the number of consumed steps: the set, or its part `name`. */
function intoSet(
  set: SetValue,
  step: PathStep,
  name: PathStep | undefined,
): { readonly value: Value; readonly steps: number } | undefined {
  if (step !== '@set') return undefined
  if (name === undefined) return { value: set, steps: 1 }
  const value = setPart(set, name)
  return value === undefined ? undefined : { value, steps: 2 }
}

const setsWithParts: ReadonlySet<SetShape['type']> = new Set([
  'match',
  'union',
  'intersection',
  'difference',
  'distinct',
  'join',
])

/** `name` is a key of the stored form of the set. Returns null for sets whose parts cannot be selected. */
function setPart(set: SetValue, name: PathStep): Value | undefined {
  if (!setsWithParts.has(set.shape.type)) return null
  // The stored form contains a lambda as an object.
  if (set.shape.type === 'join' && name === 'with') return set.shape.with
  const stored = set.storedForm()
  const parts = isObject(stored) ? stored.get('@set') : undefined
  return parts !== undefined && isObject(parts) && typeof name === 'string' ? parts.get(name) : undefined
}

function intoPage(page: Page, step: PathStep): Value | undefined {
  if (typeof step === 'bigint') return step >= 0n ? page.data[Number(step)] : undefined
  if (step === 'data') return page.data
  if (step === 'before') return page.before && cursorValue(page.before)
  return step === 'after' ? page.after && cursorValue(page.after) : undefined
}

function intoDocument(document: DocumentValue, step: string): Value | undefined {
  switch (step) {
    case 'ref':
      return document.ref
    case 'class':
      return collectionOf(document.ref)
    case 'ts':
      return instant(document.ts)
    case 'source':
      if (document.ref.collection === native.indexes) return renamedSource(document.fields.get('source'))
  }
  return document.fields.get(step)
}

/** Renames the key `class` of older definitions to `collection`. */
function renamedSource(source: Value | undefined): Value | undefined {
  if (source === undefined) return undefined
  if (isArray(source)) return source.map(each => renamedSource(each) as Value)
  if (!isObject(source)) return source
  return new Map([...source].map(([name, value]) => [name === 'class' ? 'collection' : name, value]))
}

function intoRef(ref: Ref, step: string, session: Session): Value | undefined {
  switch (step) {
    case 'id':
      return nativeIdOf(ref, session) ?? nameOf(ref, session) ?? ref.idText
    case 'collection':
    case 'class':
      return collectionOf(ref)
    case 'database':
      if (ref.database === session.database || ref.database === rootDatabase) return undefined
      return session.transaction.catalogue.database(ref.database)?.ref
    default:
      return undefined
  }
}

/** Returns undefined for references that are not to schema objects. */
function nameOf(ref: Ref, { transaction }: Session): string | undefined {
  return namedNatives.has(ref.collection) ? transaction.catalogue.nameOf(ref) : undefined
}

/** The name of a native collection; `classes` for `collections` in older API versions. */
function nativeIdOf(ref: Ref, session: Session): string | undefined {
  if (!isNativeCollectionRef(ref)) return undefined
  const name = nativeName(Number(ref.id))
  return name === 'collections' && !supportsVersion(session, '2.7') ? 'classes' : name
}

function intoEvent(event: EventValue, step: string): Value | undefined {
  switch (step) {
    case 'ts':
      return instant(event.ts)
    case 'action':
      return new Action(event.action)
    case 'document':
    case 'instance':
    case 'resource':
      return event.document
    case 'data':
      // A list with a single value is unwrapped, although the rendered event contains the list.
      if (event.ofSet) return event.values?.length === 1 ? event.values[0] : event.values
      return event.fields?.get('data') ?? null
    default:
      return event.fields?.get(step)
  }
}
