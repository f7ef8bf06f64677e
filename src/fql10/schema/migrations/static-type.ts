// Checks the type of constant expressions without evaluating them.

import { anyType, type FieldType, providedText, typeText } from '../../../model/schema/field-types.ts'
import { typeFailures } from '../../../model/schema/type-check.ts'
import type { Value } from '../../../values/value.ts'
import type { Node } from '../../syntax/nodes.ts'

/**
 * The error if a constant expression cannot have a type. Undefined for other expressions, whose type shows only at run
 * time.
 */
export function staticFault(node: Node, type: FieldType): string | undefined {
  const value = constantOf(node)
  if (value === undefined || typeFailures(type, value, []).length === 0) return undefined
  return `Type \`${providedText(anyType, value)}\` is not a subtype of \`${typeText(type)}\``
}

function constantOf(node: Node): Value | undefined {
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'group':
      return constantOf(node.inner)
    case 'unary': {
      const value = node.operator === '-' ? constantOf(node.operand) : undefined
      return typeof value === 'bigint' || typeof value === 'number' ? -value : undefined
    }
    case 'array': {
      const elements = node.elements.map(constantOf)
      return elements.includes(undefined) ? undefined : elements.filter(each => each !== undefined)
    }
    case 'object': {
      const fields = node.fields.map(([name, value]) => [name, constantOf(value)] as const)
      const known = fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
      return known.length === fields.length ? new Map(known) : undefined
    }
    default:
      return undefined
  }
}
