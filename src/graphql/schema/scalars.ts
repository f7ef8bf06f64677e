// The scalars that GraphQL itself does not have: `Date`, `Time` and `Long`. Input becomes a value of the database.

import type { GraphQLScalarType } from 'graphql'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { int64Max, int64Min, type Value } from '../../values/value.ts'
import type { Library } from '../library.ts'

export function defineScalars(
  typeOf: (name: string) => GraphQLScalarType | undefined,
  library: Library,
): void {
  const { GraphQLError, Kind } = library
  const define = (
    name: string,
    literal: 'StringValue' | 'IntValue',
    read: (given: unknown) => Value | undefined,
  ) => {
    const type = typeOf(name)
    if (type === undefined) return
    const expected = `${name} value expected`
    type.parseValue = given => {
      const value = read(given)
      if (value === undefined) throw new GraphQLError(expected)
      return value
    }
    type.parseLiteral = node => {
      const isText = node.kind === Kind.STRING || node.kind === Kind.INT
      const value = isText && node.kind === literal ? read(node.value) : undefined
      // The library adds the type and the value to an error of another class.
      if (value === undefined) throw new TypeError(expected)
      return value
    }
  }
  define('Date', 'StringValue', given => (typeof given === 'string' ? parseDate(given) : undefined))
  define('Time', 'StringValue', given => (typeof given === 'string' ? parseTime(given) : undefined))
  define('Long', 'IntValue', longOf)
}

function longOf(given: unknown): bigint | undefined {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : undefined
  const value =
    typeof given === 'bigint'
      ? given
      : typeof given === 'string' && /^-?\d{1,20}$/.test(given)
        ? BigInt(given)
        : undefined
  return value !== undefined && value >= int64Min && value <= int64Max ? value : undefined
}
