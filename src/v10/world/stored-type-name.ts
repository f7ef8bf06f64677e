// The types of stored values, as the failures of fields spell them: objects by their fields.

import { step } from '../../base/effort.ts'
import { isArray, isObject, Ref, type Value as StoredValue } from '../../values/value.ts'
import { typeName, type Value } from '../value.ts'

/** `{ x: Int }`, `Array<String>`, `Document` … */
export function storedTypeName(value: StoredValue): string {
  step()
  if (isArray(value)) {
    const types = [...new Set(value.map(storedTypeName))]
    return `Array<${types.length === 0 ? 'Never' : types.join(' | ')}>`
  }
  if (isObject(value)) {
    if (value.size === 0) return '{}'
    return `{ ${Array.from(value, ([name, field]) => `${name}: ${storedTypeName(field)}`).join(', ')} }`
  }
  // All that is left has the same form as a value of a query.
  return value instanceof Ref ? 'Document' : typeName(value as Value)
}
