// Reads field paths such as `.a.b[0]` from the syntax tree of a short lambda.

import { type Link, type Node, shortParameter } from './nodes.ts'

/** A field name or an array index, with its position in the text. */
interface PathStep {
  readonly name: string | bigint
  readonly start: number
  readonly end: number
}

/** Returns the links in the body of a short lambda such as `.a.b`. Returns undefined for any other expression. */
export function pathLinks(node: Node): readonly Link[] | undefined {
  const isPath = node.kind === 'chain' && node.operand.kind === 'name' && node.operand.name === shortParameter
  return isPath ? node.links : undefined
}

/** Converts a link to a path step. Returns undefined if the link cannot be part of a path. */
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
