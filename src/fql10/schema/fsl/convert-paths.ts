// Converts paths in schema files: the steps of all paths, and the paths of migrations. Paths of indexes and unique
// constraints may be in calls such as `desc(.a)` (index-parts.ts).

import { msg } from '../../../base/message.ts'
import { pathLinks, stepOf } from '../../syntax/field-paths.ts'
import { type Node, shortParameter } from '../../syntax/nodes.ts'
import type { Conversion } from './conversion.ts'
import { errorPlace } from './conversion.ts'
import type { FieldPathPlace, OutlineMember, OutlineValue, SourceRange } from './outline.ts'

/** The expression of a path. The parser reads a path as a short lambda if such lambdas are allowed. */
export function pathNode(node: Node): Node {
  return node.kind === 'lambda' && node.parameters[0] === shortParameter ? node.body : node
}

type Step = NonNullable<ReturnType<typeof stepOf>>

/** The steps of a path, or the range of the first part that is not a step. */
export function stepsOf(expression: Node): readonly Step[] | SourceRange {
  const node = pathNode(expression)
  const links = pathLinks(node)
  if (links === undefined) return errorPlace(node)
  const steps: Step[] = []
  for (const link of links) {
    const step = stepOf(link)
    if (step === undefined) return { start: link.start, end: link.end }
    steps.push(step)
  }
  return steps
}

/** True if a path has a part that is not a step. */
export function isPlace(steps: readonly Step[] | SourceRange): steps is SourceRange {
  return !Array.isArray(steps)
}

/** The name and the argument of a call such as `mva(.a)`. */
export function callOf(
  node: Node,
): { readonly name: Node & { kind: 'name' }; readonly argument: Node } | undefined {
  if (node.kind !== 'chain' || node.operand.kind !== 'name' || node.operand.name === shortParameter) {
    return undefined
  }
  const [call, ...others] = node.links
  if (call?.kind !== 'call' || others.length > 0) return undefined
  const [argument, ...more] = call.arguments
  return argument === undefined || more.length > 0 ? undefined : { name: node.operand, argument }
}

/** The path of a field in a migration. */
export function fieldPath(node: Node, conversion: Conversion): FieldPathPlace | undefined {
  const steps = stepsOf(node)
  if (isPlace(steps)) return conversion.fault(msg`Invalid field path`, steps)
  if (steps.length === 0) return conversion.fault(msg`Field path cannot be empty`, node)
  const position = steps.find(({ name }) => typeof name === 'bigint')
  if (position !== undefined) {
    return conversion.fault(msg`Cannot index into an item in a migration path`, position)
  }
  return { path: steps.map(({ name }) => String(name)), start: node.start, end: node.end }
}

/** The value of a member that contains a list of paths. */
export function listOf(item: OutlineMember, conversion: Conversion): OutlineValue | undefined {
  conversion.rejectAnnotations(item)
  conversion.rejectName(item)
  return conversion.valueOf(item)
}
