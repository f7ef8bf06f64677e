// Values that exist only while a query runs (documents, pages, events, sets) have an ordinary form in which they
// are stored, ordered and used as index terms. This file gives that form, one level deep: what lies inside
// stays as it is until it is looked at in its turn.

import type {
  Action,
  Cursor,
  DocumentValue,
  EventValue,
  Page,
  SetLike,
  SetShape,
  SourcedElement,
} from './value.ts'
import { type Lambda, native, type ObjectValue, Ref, SetValue, type Value } from './value.ts'

/** A value that is stored in another form than its own. */
export type Transient = SetValue | Action | DocumentValue | Page | EventValue | SourcedElement

/** The storable value that stands for a transient one. */
export function storedForm(value: Transient): Value {
  switch (value.kind) {
    case 'action':
      return value.name
    case 'document':
      return documentForm(value)
    case 'page':
      return pageForm(value)
    case 'event':
      return eventForm(value)
    case 'element':
      return new Map<string, Value>([
        ['value', value.value],
        ['sources', value.sources],
      ])
    case 'set':
      return value.shape.type === 'singleton' ? value.shape.ref : new Map([['@set', setBody(value.shape)]])
  }
}

function documentForm(document: DocumentValue): ObjectValue {
  const collection = new Ref(document.ref.database, native.collections, BigInt(document.ref.collection))
  return new Map<string, Value>([
    ['ref', document.ref],
    ['class', collection],
    ['collection', collection],
    ['ts', instant(document.ts)],
    ...document.fields,
  ])
}

function pageForm(page: Page): ObjectValue {
  const form = new Map<string, Value>()
  if (page.before) form.set('before', cursorForm(page.before))
  if (page.after) form.set('after', cursorForm(page.after))
  return form.set('data', page.data)
}

function cursorForm(cursor: Cursor): Value {
  return cursor.type === 'values' ? cursor.values : cursor.event
}

function eventForm(event: EventValue): ObjectValue {
  const form = new Map<string, Value>([
    ['ts', instant(event.ts)],
    ['action', event.action],
  ])
  if (event.document) form.set('resource', event.document)
  const values = event.ofSet ? event.values : event.fields
  return values ? form.set('values', values) : form
}

function instant(ts: DocumentValue['ts']): Value {
  return typeof ts === 'number' ? BigInt(ts) : ts
}

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
