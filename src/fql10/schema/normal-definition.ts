// Normalizes a collection definition for storage: removes status fields, and spells all other fields uniformly.

import { listIn, objectIn } from '../../model/schema/definition-parts.ts'
import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import type { ConstraintFailure } from '../failure/query-failure.ts'
import { normalIndex } from './fsl/index-parts.ts'

interface StrippedDefinition {
  readonly definition: ObjectValue
  readonly failures: readonly ConstraintFailure[]
}

const readOnly = 'Failed to update field because it is readonly'

/**
 * Removes the status of indexes and constraints, which only the service sets. A client may send back a status that it
 * has read.
 */
export function withoutStatus(
  definition: ObjectValue,
  previous: ObjectValue | undefined,
): StrippedDefinition {
  const failures: ConstraintFailure[] = []
  const strip = (item: Value, isKnown: boolean, path: readonly (string | number)[]): Value => {
    if (!isObject(item)) return item
    const status = item.get('status')
    if (status === undefined) return item
    const isAllowedStatus = isKnown && (status === 'active' || status === 'complete')
    if (!isAllowedStatus) failures.push({ paths: [[...path, 'status']], message: readOnly })
    return new Map([...item].filter(([name]) => name !== 'status'))
  }
  const stripped = new Map(definition)
  const indexes = definition.get('indexes')
  if (isObject(indexes)) {
    const before = objectIn(previous, 'indexes')
    const each = Array.from(indexes, ([name, item]): [string, Value] => [
      name,
      strip(item, before.has(name), ['indexes', name]),
    ])
    stripped.set('indexes', new Map(each))
  }
  const constraints = definition.get('constraints')
  if (isArray(constraints)) {
    const count = listIn(previous, 'constraints').length
    const each = constraints.map((item, index) => strip(item, index < count, ['constraints', index]))
    stripped.set('constraints', each)
  }
  return { definition: stripped, failures }
}

/** Normalizes a valid definition: values get their order, and unique constraints come first. */
export function normalDefinition(definition: ObjectValue): Map<string, Value> {
  const normal = new Map(definition)
  const indexes = Array.from(
    objectIn(definition, 'indexes'),
    ([name, index]) => [name, normalIndex(index)] as const,
  )
  normal.set('indexes', new Map(indexes))
  const listed = listIn(definition, 'constraints')
  const isUnique = (item: Value) => isObject(item) && item.has('unique')
  normal.set('constraints', [
    ...listed.filter(isUnique).map(normalUnique),
    ...listed.filter(each => !isUnique(each)),
  ])
  return normal
}

/** Unique constraints contain texts, unless a field states `mva`: then all fields are objects. */
function normalUnique(constraint: Value): Value {
  const unique = isObject(constraint) ? constraint.get('unique') : undefined
  if (!isArray(unique) || !isObject(constraint)) return constraint
  const isLong = unique.some(each => isObject(each) && each.has('mva'))
  const spelled = unique.map((each): Value => {
    if (isLong) return typeof each === 'string' ? new Map([['field', each]]) : each
    return isObject(each) ? (each.get('field') ?? each) : each
  })
  return new Map(constraint).set('unique', spelled)
}
