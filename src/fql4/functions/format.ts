// Formats values with the conversions of java.util.Formatter, and with the conversions `%@` and `%^`, which print any
// value as JSON.

import { catchError } from '../../base/catch-error.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { formatDouble, formatInteger } from '../../text/format/number-format.ts'
import { FormatError, parseFormat, type Specifier } from '../../text/format/specifier.ts'
import { formatTimePart, isTimeSuffix } from '../../text/format/time-format.ts'
import { formatDate } from '../../values/date.ts'
import { formatTime } from '../../values/time.ts'
import { LocalDate, Time, type Value } from '../../values/value.ts'
import { anyValue, list, string } from '../arguments.ts'
import { refNames } from '../bodies.ts'
import { apiVersionOf, type Call, define, family, mismatch } from '../definition.ts'
import { CountedText, countScan, countText } from '../value-limits.ts'
import { renderValue } from '../wire/render.ts'
import type { ApiVersion } from '../wire/version.ts'
import { asText, cannotCast } from './conversions.ts'

/** The conversion `%@` renders values in the form of this API version, for every client. */
const plainVersion: ApiVersion = '2.1'

function renderJson(value: Value, apiVersion: ApiVersion, { session }: Call): string {
  const names = refNames(session.database, apiVersion, session.transaction)
  return renderValue(value, { apiVersion, names }) ?? 'null'
}

/** Throws a {@link FormatError} for unknown conversions and suffixes. */
function readFormat(format: string): (string | Specifier)[] {
  const parts = parseFormat(format)
  for (const part of parts) {
    const suffix = typeof part === 'string' ? undefined : part.suffix
    if (suffix !== undefined && !isTimeSuffix(suffix))
      throw new FormatError('suffix', (part as Specifier).text)
  }
  return parts
}

/** Errors about the value contain its index in the argument `values`. */
function convert(specifier: Specifier, value: Value, index: number, call: Call): string {
  switch (specifier.conversion) {
    case 'd':
    case 'x':
    case 'o':
      if (typeof value !== 'bigint') throw mismatch('Integer', value, call, 'values', index)
      return formatInteger(value, specifier)
    case 'f':
    case 'e':
    case 'g':
      if (typeof value !== 'number') throw mismatch('Number', value, call, 'values', index)
      return formatDouble(value, specifier)
    case 'b':
      return cut(String(value !== null && value !== false), specifier.precision)
    case 't':
      return convertTime(specifier, value, index, call)
    case '@':
      return cut(renderJson(value, plainVersion, call), specifier.precision)
    case '^':
      return cut(renderJson(value, apiVersionOf(call.session), call), specifier.precision)
    default: {
      const text = asText(value)
      if (text === undefined) throw cannotCast(value, 'String', call, 'values', index)
      return cut(text, specifier.precision)
    }
  }
}

function convertTime({ suffix, text }: Specifier, value: Value, index: number, call: Call): string {
  if (!(value instanceof Time) && !(value instanceof LocalDate)) {
    throw mismatch('Date or Time', value, call, 'values', index)
  }
  if (suffix === undefined) return value instanceof Time ? formatTime(value) : formatDate(value)
  const part = formatTimePart(value, suffix)
  if (part === undefined) throw new FormatError('suffix', text)
  return part
}

function cut(text: string, precision: number | undefined): string {
  return precision === undefined ? text : text.slice(0, precision)
}

/** Assigns a value to each specifier. Specifiers without an index format consecutive values. */
class ValueCounter {
  readonly #count: number
  readonly #call: Call
  #next = 0
  #previous: number | undefined

  constructor(count: number, call: Call) {
    this.#count = count
    this.#call = call
  }

  indexFor({ index, text }: Specifier): number {
    const valueIndex = this.#valueIndex(index)
    if (valueIndex === undefined) throw new FormatError('conversion', text)
    this.#previous = valueIndex
    return valueIndex
  }

  #valueIndex(index: Specifier['index']): number | undefined {
    if (index === 'previous') return this.#previous
    if (index === undefined) {
      if (this.#next < this.#count) return this.#next++
      throw this.#call.invalid(msg`format specifiers count must be <= arguments size`, 'format')
    }
    if (index >= 1 && index <= this.#count) return index - 1
    throw this.#call.invalid(msg`index must be >= 1 and <= arguments size`, 'format')
  }
}

function formatValues(format: string, values: readonly Value[], call: Call): string {
  countScan(call, format.length)
  const counter = new ValueCounter(values.length, call)
  // Reports errors of the format before errors of the values.
  const pieces = readFormat(format).map(part => {
    if (typeof part === 'string') return part
    const takesValue = part.conversion !== '%' && part.conversion !== 'n'
    return { specifier: part, index: takesValue ? counter.indexFor(part) : -1 }
  })
  const result = new CountedText(call)
  for (const piece of pieces)
    result.add(typeof piece === 'string' ? piece : printed(piece.specifier, piece.index, values, call))
  return result.finish()
}

function printed(specifier: Specifier, index: number, values: readonly Value[], call: Call): string {
  const { conversion, precision = 0, width = 0 } = specifier
  // Checks the length before the text is created.
  if (Math.max(width, precision) > limits.textUnitsMax) countText(call, Math.max(width, precision))
  if (conversion === 'n') return '\n'
  const plain = conversion === '%' ? '%' : convert(specifier, values[index] as Value, index, call)
  const text = specifier.capitals ? plain.toUpperCase() : plain
  return specifier.leftAligned ? text.padEnd(width) : text.padStart(width)
}

export const format = family('Formatting', [
  define({
    arguments: { format: string, values: list(anyValue) },
    result: 'String',
    summary:
      'Inserts `values` into the string `format` at specifiers such as `%s` and `%.2f`, as in Java. `%@` inserts any value as JSON.',
    example: ['{"format": "%s costs %.2f (%05d)", "values": ["ice", 1.005, 42]}', '"ice costs 1.01 (00042)"'],
    evaluate(args, call) {
      const formatted = () => formatValues(args.format, args.values, call)
      return catchError(FormatError, formatted, ({ reason, text }) => {
        const what = reason === 'suffix' ? 'date/time suffix' : 'conversion format'
        throw call.invalid(msg`Invalid ${what} '${text}'.`, 'format')
      })
    },
  }),
])
