// Methods of event sources. They support the same steps as sets.

import { continued } from '../events/source.ts'
import { MapSet, WhereSet } from '../sets/functional.ts'
import { originOf } from '../sets/lazy-set.ts'
import type { EventSource } from '../value.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { callback } from './parameters.ts'
import { toText } from './to-text.ts'

const { method } = entriesFor<EventSource>()

/** The table of event sources. */
export const eventSourceMembers: Members = members('EventSource', [
  method('where', {
    parameters: { predicate: callback(1, 'pred') },
    result: 'EventSource<Any>',
    summary: 'The events of the elements for which a predicate returns true.',
    example: ['Author.all().eventSource().where(.name == "Ann").toString()', '"[event source]"'],
    run: (source, { predicate }, call) =>
      continued(source, set => new WhereSet(set, predicate, originOf(call))),
  }),
  method('map', {
    parameters: { mapper: callback(1) },
    result: 'EventSource<Any>',
    summary: 'The events with the result of a function for their elements.',
    example: ['Author.all().eventSource().map(.name).toString()', '"[event source]"'],
    run: (source, { mapper }, call) => continued(source, set => new MapSet(set, mapper, originOf(call))),
  }),
  toText('Author.all().eventSource().toString()', '"[event source]"', 'A word for the source.'),
])
