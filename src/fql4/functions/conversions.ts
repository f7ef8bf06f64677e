// Functions that convert values to another type. An impossible conversion causes an error and never returns null.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { dateOfTime, formatDate, timeOfDate } from '../../values/date.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { parseJavaNumber } from '../../values/number-text.ts'
import { formatTime, type TimeUnit, timeFromEpoch, timeUnit } from '../../values/time.ts'
import {
  DocumentValue,
  instant,
  isArray,
  isObject,
  LocalDate,
  type ObjectValue,
  Time,
  Transient,
  Uuid,
  type Value,
} from '../../values/value.ts'
import { anyValue } from '../arguments.ts'
import { integerOf } from '../arithmetic.ts'
import { type Call, family, mismatch, supportsVersion, unary } from '../definition.ts'
import { valueAt } from '../path.ts'
import { ErrorList, type QueryError } from '../query-errors.ts'
import { countScan } from '../value-limits.ts'
import { typeName } from '../values/tagged.ts'
import { dateFromText, timeFromText } from './time.ts'

/** Converts a scalar value to text. Returns undefined for bytes, references and compound values. */
export function asText(value: Value): string | undefined {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'number':
      return javaDoubleText(value)
  }
  if (value === null) return 'null'
  if (value instanceof Time) return formatTime(value)
  if (value instanceof LocalDate) return formatDate(value)
  if (value instanceof Uuid) return value.text
  return value instanceof Transient ? value.word : undefined
}

/**
 * In the protocol, the errors of `to_integer`, `to_double`, `to_object` and `to_array` have the position of the
 * argument, and those of the other conversions the position of the call.
 */
export function cannotCast(value: Value, target: string, call: Call, ...at: (string | number)[]): QueryError {
  return call.invalid(msg`Cannot cast ${typeName(value)} to ${target}.`, ...at)
}

/** Returns `value` if it is a number. For a text, returns the number that the text begins with. */
function numberOf(value: Value, target: string, call: Call, ...at: string[]): bigint | number {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  if (typeof value === 'string') countScan(call, value.length)
  const number = typeof value === 'string' ? parseJavaNumber(value) : undefined
  if (number === undefined) throw cannotCast(value, target, call, ...at)
  return number
}

function toTime(value: Value, call: Call): Value {
  if (value instanceof Time) return value
  if (value instanceof LocalDate) return timeOfDate(value)
  if (typeof value === 'string') return timeFromText(value, call)
  const time = typeof value === 'bigint' ? timeFromEpoch(value, millisecond) : undefined
  if (!time) throw cannotCast(value, 'Time', call)
  return time
}

const millisecond = timeUnit('millisecond') as TimeUnit

function toDate(value: Value, call: Call): Value {
  if (value instanceof LocalDate) return value
  if (typeof value === 'string') return dateFromText(value, call)
  const date = value instanceof Time ? dateOfTime(value) : undefined
  if (!date) throw cannotCast(value, 'Date', call)
  return date
}

/** Converts a document to an object in the form of the client's API version. */
function documentFields(document: DocumentValue, call: Call): ObjectValue {
  const { session } = call
  const fields = new Map<string, Value>([['ref', document.ref]])
  if (!supportsVersion(session, '2.1')) fields.set('class', valueAt(['class'], document, session) as Value)
  fields.set('ts', instant(document.ts))
  for (const [name, value] of document.fields) {
    fields.set(name, valueAt([name], document, session) ?? value)
  }
  return fields
}

function fieldsFromPairs(pairs: readonly Value[], call: Call): ObjectValue {
  const fields = new Map<string, Value>()
  const errors = new ErrorList()
  for (const [index, pair] of pairs.entries()) {
    step()
    if (errors.isFull) break
    const name = isArray(pair) && pair.length === 2 ? pair[0] : undefined
    if (typeof name === 'string') fields.set(name, (pair as readonly Value[])[1] as Value)
    else errors.add(mismatch('Field/Value', pair, call, 'to_object', index).errors)
  }
  errors.throwIfAny()
  return fields
}

function toObject(value: Value, call: Call): ObjectValue {
  if (isObject(value)) return value
  if (isArray(value)) return fieldsFromPairs(value, call)
  if (value instanceof DocumentValue) return documentFields(value, call)
  throw cannotCast(value, 'Object', call, 'to_object')
}

function toArray(value: Value, call: Call): readonly Value[] {
  if (isArray(value)) return value
  if (!isObject(value) && !(value instanceof DocumentValue)) {
    throw cannotCast(value, 'Array', call, 'to_array')
  }
  const fields = toObject(value, call)
  step(fields.size)
  return Array.from(fields)
}

export const conversions = family('Conversions', [
  unary('to_string', anyValue, {
    result: 'String',
    summary:
      'Converts a scalar value, such as a number or a date, to a string. Arrays, objects, bytes and references are errors.',
    example: ['{"@date": "2024-02-28"}', '"2024-02-28"'],
    evaluate(value, call) {
      const text = asText(value)
      if (text === undefined) throw cannotCast(value, 'String', call)
      return text
    },
  }),
  unary('to_number', anyValue, {
    result: 'Number',
    summary:
      'Returns the number at the start of a string, or a number unchanged. A string that does not begin with a number is an error.',
    example: ['"1.5 miles"', '1.5'],
    evaluate: (value, call) => numberOf(value, 'Number', call),
  }),
  unary('to_integer', anyValue, {
    result: 'Integer',
    summary:
      'Converts a number, or the number at the start of a string, to an integer. The fraction is truncated.',
    example: ['-3.9', '-3'],
    evaluate: (value, call, name) => integerOf(numberOf(value, 'Integer', call, name)),
  }),
  unary('to_double', anyValue, {
    result: 'Double',
    summary: 'Converts a number, or the number at the start of a string, to a double.',
    example: ['3', '3.0'],
    evaluate: (value, call, name) => Number(numberOf(value, 'Double', call, name)),
  }),
  unary('to_time', anyValue, {
    result: 'Time',
    summary:
      'Converts an ISO 8601 string, an integer of milliseconds since 1970-01-01T00:00:00Z, or a date to a time. A date becomes midnight UTC.',
    example: ['1500', '{"@ts": "1970-01-01T00:00:01.500Z"}'],
    evaluate: toTime,
  }),
  unary('to_date', anyValue, {
    result: 'Date',
    summary:
      'Converts a string in the form `YYYY-MM-DD` or a time to a date. The date of a time is its day in UTC.',
    example: ['{"@ts": "2024-02-28T23:59:59Z"}', '{"@date": "2024-02-28"}'],
    evaluate: toDate,
  }),
  unary('to_object', anyValue, {
    result: 'Object',
    summary: 'Converts an array of `[name, value]` pairs, or a document, to an object.',
    example: ['[["x", 10], ["y", 20]]', '{"x": 10, "y": 20}'],
    evaluate: toObject,
  }),
  unary('to_array', anyValue, {
    result: 'Array',
    summary:
      'Converts an object or a document to an array of `[name, value]` pairs. An array is returned unchanged.',
    example: ['{"object": {"x": 10}}', '[["x", 10]]'],
    evaluate: toArray,
  }),
])
