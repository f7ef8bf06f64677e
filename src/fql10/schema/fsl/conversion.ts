// Converts the parts of a schema file's outline (outline.ts) that occur in several kinds of items. The conversion does
// not stop at a fault, and records all faults of the schema file. index-parts.ts converts calls that contain paths,
// such as `desc(.a)` in an index.

import { type Message, msg } from '../../../base/message.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import { pathLinks, stepOf } from '../../syntax/field-paths.ts'
import { isShortLambda, type LambdaNode, type Node, shortParameter } from '../../syntax/nodes.ts'
import type { Source } from '../../syntax/source.ts'
import { isPlainName } from '../field-names.ts'
import type {
  OutlineBlock,
  OutlineExpression,
  OutlineFieldPath,
  OutlineItem,
  OutlineMember,
  OutlineName,
  OutlinePredicate,
  OutlineValue,
  SourceRange,
} from './outline.ts'

/** The semicolons after an item. An error about a missing value underlines the item and these semicolons. */
const semicolons = /(?:[ \t]*;)*/y

/** The word that represents an item in messages: the name of a field, or the keyword of any other item. */
export function wordOf(item: OutlineItem): OutlineName {
  return item.form === 'field' ? item.name : item.keyword
}

export class Conversion {
  readonly source: Source
  readonly faults: Diagnostic[] = []

  constructor(source: Source) {
    this.source = source
  }

  /** Records a fault. Returns undefined, so that the caller can return the result. */
  fault(message: Message, range: SourceRange, parts: Partial<Diagnostic> = {}): undefined {
    const { end, start } = range
    this.faults.push({ name: 'error', message, span: { source: this.source, start, end }, ...parts })
  }

  hint(message: string, { end, start }: SourceRange): Remark {
    return { name: 'hint', message, span: { source: this.source, start, end } }
  }

  /** Records a fault if the name is missing. */
  nameOf({ keyword, name }: OutlineMember): OutlineName | undefined {
    return name ?? this.fault(msg`Missing required name`, keyword)
  }

  /** Records a fault if the name is missing or not an identifier. */
  identifierOf(item: OutlineMember): OutlineName | undefined {
    const name = this.nameOf(item)
    return name && this.identifier(name)
  }

  /** Records a fault and returns undefined if the name is not an identifier. */
  identifier(name: OutlineName): OutlineName | undefined {
    return isPlainName(name.text) ? name : this.fault(msg`Invalid identifier \`${name.text}\``, name)
  }

  rejectAnnotations({ annotations: [first] }: OutlineItem): void {
    if (first !== undefined) this.fault(msg`Annotations are not allowed here`, first)
  }

  rejectName({ name }: OutlineMember): void {
    if (name !== undefined) this.fault(msg`Name is not allowed here`, name)
  }

  /** Records a fault if the value is missing. */
  valueOf(item: OutlineMember): OutlineValue | undefined {
    if (item.value !== undefined) return item.value
    semicolons.lastIndex = item.end
    const end = item.end + (semicolons.exec(this.source.text)?.[0].length ?? 0)
    return this.fault(msg`Missing required value`, { start: item.keyword.start, end })
  }

  blockOf(item: OutlineMember): OutlineBlock | undefined {
    const value = this.valueOf(item)
    if (value === undefined || value.kind === 'block') return value
    return this.fault(msg`Expected a block`, errorRange(value))
  }

  expressionOf(item: OutlineMember): OutlineExpression | undefined {
    const value = this.valueOf(item)
    if (value === undefined || value.kind === 'expression') return value
    return this.fault(msg`Expected an expression literal`, value)
  }

  /** Records a fault if the block does not contain exactly one predicate. */
  predicate(block: OutlineBlock): OutlinePredicate | undefined {
    const [only, ...others] = block.members
    if (only === undefined || others.length > 0) {
      return this.fault(msg`Expected a single predicate member`, block)
    }
    if (only.form !== 'member' || only.keyword.text !== 'predicate') {
      return this.fault(msg`Expecting a predicate`, only)
    }
    this.rejectAnnotations(only)
    this.rejectName(only)
    const value = this.expressionOf(only)
    if (value === undefined) return undefined
    if (lambdaInParentheses(value.node) === undefined) {
      return this.fault(msg`Expected lambda predicate`, errorRange(value))
    }
    return { block, lambda: value.node }
  }

  /** Returns undefined if the item has no block. */
  optionalPredicate(item: OutlineMember): OutlinePredicate | undefined {
    const block = item.value && this.blockOf(item)
    return block && this.predicate(block)
  }
}

/** Records a fault for each duplicate part of an item or file. */
export class DuplicateCheck {
  readonly #conversion: Conversion
  readonly #ranges = new Map<string, SourceRange>()

  constructor(conversion: Conversion) {
    this.#conversion = conversion
  }

  /** Returns true for the first part with this kind and name. */
  addNamed(what: string, name: OutlineName): boolean {
    return this.add(`${what} \`${name.text}\``, name)
  }

  /** Returns true for the first part with this `what`. */
  add(what: string, range: SourceRange): boolean {
    const first = this.#ranges.get(what)
    if (first === undefined) this.#ranges.set(what, range)
    else {
      const remarks = [this.#conversion.hint('Originally defined here', first)]
      this.#conversion.fault(msg`Duplicate ${what}`, range, { remarks })
    }
    return first === undefined
  }
}

/** The range that an error about a value underlines: for a binary operation, the right operand. */
export function errorRange(value: OutlineValue | Node): SourceRange {
  if (value.kind === 'expression') return errorRange(value.node)
  return value.kind === 'binary' ? errorRange(value.right) : value
}

/** The expression of a value. Returns undefined for blocks and lists. */
export function nodeOf(value: OutlineValue): Node | undefined {
  return value.kind === 'expression' ? value.node : undefined
}

/** The lambda, if the node is a lambda in parentheses. Returns undefined for any other node. */
export function lambdaInParentheses(node: Node): LambdaNode | undefined {
  return node.kind === 'group' && node.inner.kind === 'lambda' ? node.inner : undefined
}

/** If the parser has parsed the path as a short lambda, the result is the lambda's body. */
export function pathNode(node: Node): Node {
  return isShortLambda(node) ? node.body : node
}

type Step = NonNullable<ReturnType<typeof stepOf>>

/** If the path contains invalid parts, returns the range of the first invalid part. */
export function stepsOf(expression: Node): readonly Step[] | SourceRange {
  const node = pathNode(expression)
  const links = pathLinks(node)
  if (links === undefined) return errorRange(node)
  const steps: Step[] = []
  for (const link of links) {
    const step = stepOf(link)
    if (step === undefined) return { start: link.start, end: link.end }
    steps.push(step)
  }
  return steps
}

/** True for the range of an invalid part from {@link stepsOf}. */
export function isRange(steps: readonly Step[] | SourceRange): steps is SourceRange {
  return !Array.isArray(steps)
}

/** Accepts calls with one argument, such as `mva(.a)`. Returns undefined for any other node. */
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

export function fieldPath(node: Node, conversion: Conversion): OutlineFieldPath | undefined {
  const steps = stepsOf(node)
  if (isRange(steps)) return conversion.fault(msg`Invalid field path`, steps)
  if (steps.length === 0) return conversion.fault(msg`Field path cannot be empty`, node)
  const position = steps.find(({ name }) => typeof name === 'bigint')
  if (position !== undefined) {
    return conversion.fault(msg`Cannot index into an item in a migration path`, position)
  }
  return { path: steps.map(({ name }) => String(name)), start: node.start, end: node.end }
}

/**
 * Returns the value of a member, which should be a list of paths. Records a fault if the member has annotations or a
 * name.
 */
export function listOf(item: OutlineMember, conversion: Conversion): OutlineValue | undefined {
  conversion.rejectAnnotations(item)
  conversion.rejectName(item)
  return conversion.valueOf(item)
}
