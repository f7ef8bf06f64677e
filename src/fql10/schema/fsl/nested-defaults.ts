// Checks defaults within field types. A default is allowed only if all enclosing types are object types, no enclosing
// field has a default, and the default is not within the type of a wildcard.

import { msg } from '../../../base/message.ts'
import type { Node, TypeNode } from '../../syntax/nodes.ts'
import { innerNodesOf } from '../../typing/annotations.ts'
import { type Conversion, errorRange } from './conversion.ts'
import type { SourceRange } from './outline.ts'

/** The reason why a type may not contain defaults. */
interface Obstacle {
  readonly message: string
  readonly range: SourceRange
}

/** Records a fault for each invalid default in the type of a field. `outer` is the default of the field itself. */
export function rejectDefaults(type: TypeNode, outer: Node | undefined, conversion: Conversion): void {
  rejectInType(type, conflicting(outer), conversion)
}

function rejectInType(type: TypeNode, obstacle: Obstacle | undefined, conversion: Conversion): void {
  if (type.kind !== 'object') {
    const within =
      type.kind === 'function'
        ? [...type.parameters.map(parameter => parameter.type), type.result]
        : innerNodesOf(type)
    for (const part of within) rejectInType(part, obstacle ?? obstacleOf(type), conversion)
    return
  }
  for (const { defaultValue, type: member } of type.members) {
    if (defaultValue !== undefined && obstacle !== undefined) {
      const remarks = [conversion.hint(obstacle.message, obstacle.range)]
      conversion.fault(msg`Default values are not allowed here`, errorRange(defaultValue), { remarks })
    }
    rejectInType(member, obstacle ?? conflicting(defaultValue), conversion)
  }
  if (type.wildcard !== undefined) rejectInType(type.wildcard, obstacle ?? notObject(type), conversion)
}

function conflicting(outer: Node | undefined): Obstacle | undefined {
  return outer && { message: 'Parent has a conflicting default value', range: errorRange(outer) }
}

function notObject(type: TypeNode): Obstacle {
  return { message: 'Parent is not an object', range: type }
}

/** The reason why the types within `type` may not contain defaults. */
function obstacleOf(type: Exclude<TypeNode, { kind: 'object' }>): Obstacle {
  if (type.kind === 'optional') {
    return { message: 'Parent is nullable', range: { start: type.end - 1, end: type.end } }
  }
  return type.kind === 'union' ? { message: 'Parent is a union', range: type } : notObject(type)
}
