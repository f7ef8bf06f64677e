// Decodes the values of a query template. Errors for invalid values underline the placeholder.

import { type Diagnostic, invalidQuery } from '../failure/query-failure.ts'
import { placeholderText } from '../syntax/placeholder.ts'
import type { Source } from '../syntax/source.ts'
import type { ComposedQuery, TemplateValue } from '../syntax/template.ts'
import type { Value } from '../value.ts'
import { DecodingError, decodeTagged, type TagNames } from './decode.ts'

/** The values of a query's placeholders, in order. Throws a QueryFailure for the first invalid value. */
export function bindTemplate(
  { values, placeholders }: ComposedQuery,
  source: Source,
  names: TagNames,
): Value[] {
  return values.map((value, index) => {
    try {
      return decode(value, names)
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error
      const start = placeholders[index] as number
      const span = { source, start, end: start + placeholderText.length }
      const diagnostic: Diagnostic = { name: 'error', message: error.message, span }
      throw invalidQuery([diagnostic])
    }
  })
}

function decode(value: TemplateValue, names: TagNames): Value {
  switch (value.kind) {
    case 'value':
      return decodeTagged(value.json, names)
    case 'array':
      return value.elements.map(element => decode(element, names))
    case 'object':
      return new Map([...value.fields].map(([name, field]) => [name, decode(field, names)]))
  }
}
