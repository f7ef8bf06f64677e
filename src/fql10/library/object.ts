// The module Object. Plain objects have no methods, because a field may have any name.

import { step } from '../../base/effort.ts'
import { Message, msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { displayText } from '../text-of-value.ts'
import { type Doc, isArray, isStruct, Module, type Struct, typeName, type Value } from '../value.ts'
import { entriesFor, type Members, members } from './entry.ts'
import { any, array, object, struct } from './parameters.ts'

const { method } = entriesFor<Module>()

/** Accepts an object or an existing document. Throws `invalid_argument` for any other value of `parameter`. */
function fieldsOf(parameter: string, value: Struct | Doc | Module, call: Call): Struct {
  if (value instanceof Module)
    throw call.invalidArgument(parameter, msg`expected either an object or a document`)
  const fields = isStruct(value) ? value : fieldsOfDocument(parameter, value, call)
  step(fields.size)
  return fields
}

function fieldsOfDocument(parameter: string, doc: Doc, call: Call): Struct {
  const { world } = call.evaluation
  const absence = world.documents.absence(doc, call)
  if (absence === undefined) return world.documents.fields(doc, call)
  const { message } = absence.onField ?? absence.onAssert
  throw call.invalidArgument(parameter, withLowerCase(message))
}

/** The message with a lower-case first letter, for use within a sentence. */
function withLowerCase({ pieces: [first = '', ...others], quoted }: Message): Message {
  return new Message([first.charAt(0).toLowerCase() + first.slice(1), ...others], quoted)
}

/** The value at a path through objects; undefined if the path does not exist. Throws `invalid_argument`. */
function valueAt(start: Struct, path: readonly Value[], call: Call): Value | undefined {
  let value: Value | undefined = start
  for (const name of path) {
    step()
    if (typeof name !== 'string') throw call.invalidArgument('path', msg`expected an array of strings`)
    if (!isStruct(value)) return undefined
    value = value.get(name)
    if (value === undefined) return undefined
  }
  return value
}

/**
 * Returns an element of `fromEntries`. Throws `invalid_argument` if the element is not an array of a name and a value.
 */
function entryOf(entry: Value, index: number, call: Call): readonly [string, Value] {
  const invalid = (reason: string) => call.invalidArgument('entries', msg`${reason} at index ${index}`)
  if (!isArray(entry)) {
    throw invalid(`expected an array for each element of the outer array, but saw type ${typeName(entry)}`)
  }
  if (entry.length !== 2) throw invalid(`expected inner array of length 2 but saw length ${entry.length}`)
  const [name, value] = entry as [Value, Value]
  if (typeof name !== 'string') {
    throw invalid(
      `expected a string for the first element of each inner array, but saw type ${typeName(name)}`,
    )
  }
  return [name, value]
}

const reading = [
  method('keys', {
    parameters: { object },
    type: '(object: Any) => Array<String>',
    summary: 'Returns the names of the fields of an object or a document.',
    example: ['Object.keys({ a: 1 })', '[\n  "a"\n]'],
    run: (_, args, call) => [...fieldsOf('object', args.object, call).keys()],
  }),
  method('values', {
    parameters: { object },
    type: '<A> (object: { *: A }) => Array<A>',
    summary: 'Returns the values of the fields of an object or a document.',
    example: ['Object.values({ a: 1 })', '[\n  1\n]'],
    run: (_, args, call) => [...fieldsOf('object', args.object, call).values()],
  }),
  method('entries', {
    parameters: { object },
    type: '<A> (object: { *: A }) => Array<[String, A]>',
    summary: 'Returns a `[name, value]` pair for each field of an object or a document.',
    example: ['Object.entries({ a: 1 })', '[\n  [\n    "a",\n    1\n  ]\n]'],
    run: (_, args, call) => [...fieldsOf('object', args.object, call)],
  }),
  method('select', {
    parameters: { object: struct, path: array },
    type: '(object: { *: Any }, path: Array<String>) => Any',
    summary: 'Returns the value at `path`, an array of field names, or null if there is none.',
    example: ['Object.select({ a: { b: 1 } }, ["a", "b"])', '1'],
    run: (_, args, call) =>
      valueAt(args.object, args.path, call) ?? call.noElement(msg`no value in object found at path`),
  }),
  method('hasPath', {
    parameters: { object: struct, path: array },
    type: '(object: { *: Any }, path: Array<String>) => Boolean',
    summary: 'True if `path`, an array of field names, leads to a value. null counts as a value.',
    example: ['Object.hasPath({ a: null }, ["a"])', 'true'],
    run: (_, args, call) => valueAt(args.object, args.path, call) !== undefined,
  }),
]

export const objectModule: Members = members('Object', [
  ...reading,
  method('assign', {
    parameters: { destination: object, source: object },
    type: '<A, B> (destination: { *: A }, source: { *: B }) => { *: A | B }',
    summary:
      'Returns a new object with the fields of `destination`, overwritten by the fields of `source`. Nested objects are not merged.',
    example: ['Object.assign({ a: 1 }, { b: 2 })', '{\n  a: 1,\n  b: 2\n}'],
    run: (_, { destination, source }, call) => {
      const below = fieldsOf('destination', destination, call)
      return new Map([...below, ...fieldsOf('source', source, call)])
    },
  }),
  method('fromEntries', {
    parameters: { entries: array },
    type: '<A> (entries: Array<[String, A]>) => { *: A }',
    summary: 'Creates an object from an array of `[name, value]` pairs.',
    example: ['Object.fromEntries([["a", 1]])', '{\n  a: 1\n}'],
    run: (_, { entries }, call) =>
      new Map(
        entries.map((entry, index) => {
          step()
          return entryOf(entry, index, call)
        }),
      ),
  }),
  method('toString', {
    parameters: { object: any },
    type: '(object: Any) => String',
    summary: 'Converts any value to a string.',
    example: ['Object.toString({ a: 1 })', '"{ a: 1 }"'],
    run: (_, args, call) => displayText(args.object, call),
  }),
])
