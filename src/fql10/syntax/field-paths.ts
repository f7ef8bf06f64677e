// Paths of fields as they are written: what follows the receiver of a short lambda, such as `.a.b[0]`.

import { type Link, type Node, shortParameter } from './nodes.ts'

/** A step of a path with its place: the name of a field, or a position. */
interface PathStep {
  readonly name: string | bigint
  readonly start: number
  readonly end: number
}

/** The links of what may be a path; undefined for any other expression. */
export function pathLinks(node: Node): readonly Link[] | undefined {
  const isPath = node.kind === 'chain' && node.operand.kind === 'name' && node.operand.name === shortParameter
  return isPath ? node.links : undefined
}

/** The step that a link is; undefined for a link that is none. */
export function stepOf(link: Link): PathStep | undefined {
  if (link.kind === 'field' && !link.optional) {
    return { name: link.name, start: link.nameStart, end: link.end }
  }
  if (link.kind !== 'access' || link.optional) return undefined
  const [only, ...others] = link.arguments
  if (only?.kind !== 'literal' || others.length > 0) return undefined
  const { end, start, value } = only
  return typeof value === 'string' || typeof value === 'bigint' ? { name: value, start, end } : undefined
}
