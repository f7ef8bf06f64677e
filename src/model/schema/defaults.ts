// Adds default values for fields that a new document leaves out. A field that is null gets no default: the client wants
// the field to have no value.

import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import type { FieldPath } from '../failure.ts'
import type { FieldType, ObjectType } from './field-types.ts'

/** Evaluates the expression of a default, for the field at a path in the data. */
type EvaluateDefault = (expression: string, path: FieldPath) => Value

/**
 * Returns `stored` with defaults for the fields that `given` leaves out. `stored` is `given` without nulls, and lies at
 * `path`. Returns `stored` itself if nothing is added.
 */
export function withDefaults(
  { fields }: ObjectType,
  given: Value | undefined,
  stored: ObjectValue,
  evaluate: EvaluateDefault,
  path: FieldPath = [],
): ObjectValue {
  const named = isObject(given) ? given : stored
  let filled: Map<string, Value> | undefined
  for (const [name, { type, defaultValue }] of fields) {
    const before = stored.get(name)
    const at = () => [...path, name]
    let value = before
    if (before !== undefined) value = filledValue(type, named.get(name), before, evaluate, at)
    else if (named.has(name)) continue
    else if (defaultValue !== undefined) value = evaluate(defaultValue, at())
    else if (type.kind === 'object') value = withDefaults(type, undefined, new Map(), evaluate, at())
    if (value === before || value === undefined || value === null) continue
    filled ??= new Map(stored)
    filled.set(name, value)
  }
  return filled ?? stored
}

function filledValue(
  type: FieldType,
  given: Value | undefined,
  stored: Value,
  evaluate: EvaluateDefault,
  at: () => FieldPath,
): Value {
  switch (type.kind) {
    case 'object':
      return isObject(stored) ? withDefaults(type, given, stored, evaluate, at()) : stored
    case 'array': {
      if (!isArray(stored)) return stored
      const named = isArray(given) && given.length === stored.length ? given : stored
      const filled = stored.map((each, index) =>
        filledValue(type.element, named[index], each, evaluate, () => [...at(), index]),
      )
      return filled.some((each, index) => each !== stored[index]) ? filled : stored
    }
    case 'union': {
      const objects = type.members.filter(each => each.kind === 'object' || each.kind === 'array')
      const [only] = objects
      return objects.length === 1 && only !== undefined
        ? filledValue(only, given, stored, evaluate, at)
        : stored
    }
    default:
      return stored
  }
}
