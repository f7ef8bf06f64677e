// Extracts the text of a lambda or projection from its query, for a cursor or an event source. The text is parsed again
// when the cursor or the event source is used.

import { isShortLambda, type LambdaNode, type Node, type ProjectionNode, shortParameter } from './nodes.ts'
import { parseQuery } from './parse-query.ts'
import { Source } from './source.ts'

/** The text of a function, with the offsets of its template values. */
interface Slice {
  readonly text: string
  readonly placeholders: readonly number[]
  /** Indexes of the `placeholders` among all template values of the query. */
  readonly indices: readonly number[]
}

/** `lambdaOf` adds this text before a slice, because a short lambda is valid only as an argument. */
const callStart = 'f('

/**
 * The operand in the slice of a projection, which is never evaluated. It replaces the original operand, because the set
 * in the cursor already contains the value of the original operand.
 */
const dummyOperand = '0 '

/** `names` are all names in the text of a lambda or of the fields of a projection. */
export function sliceOf(node: LambdaNode, { text }: Source): Slice & { readonly names: ReadonlySet<string> } {
  const operand = node.isProjection ? dummyOperand : ''
  const names = new Set<string>()
  const placeholders: number[] = []
  const indices: number[] = []
  walk(node, each => {
    if (each.kind === 'name') names.add(each.name)
    if (each.kind !== 'placeholder') return
    placeholders.push(operand.length + each.start - node.start)
    indices.push(each.index)
  })
  return { text: operand + text.slice(node.start, node.end), placeholders, indices, names }
}

/** Parses a slice, and converts a projection to a lambda. Throws a QueryFailure for a text with syntax errors. */
export function lambdaOf({ text, placeholders }: Omit<Slice, 'indices'>): {
  readonly node: LambdaNode
  readonly source: Source
} {
  const source = new Source('*query*', `${callStart}${text})`)
  const offsets = placeholders.map(offset => offset + callStart.length)
  const argument = argumentOf(parseQuery(source, offsets).body)
  if (argument?.kind === 'lambda') return { node: argument, source }
  const projection = argument && projectionIn(argument)
  if (projection?.fields === undefined) throw new RangeError('the text is not a function')
  return { node: projectionLambda(projection), source }
}

/** Returns the argument of the call that `lambdaOf` has added around a slice. */
function argumentOf(node: Node | undefined): Node | undefined {
  if (node?.kind === 'block') {
    const [only] = node.statements
    return only === undefined || only.kind === 'let' ? undefined : argumentOf(only)
  }
  const link = node?.kind === 'chain' ? node.links[0] : undefined
  return link?.kind === 'call' ? link.arguments[0] : undefined
}

/** Returns a projection without its parentheses. Returns undefined for any other expression. */
function projectionIn(node: Node): ProjectionNode | undefined {
  return node.kind === 'group' ? projectionIn(node.inner) : node.kind === 'projection' ? node : undefined
}

/** The function that the projection applies to each element. */
export function projectionLambda({ fields = [], fieldsStart: start, end }: ProjectionNode): LambdaNode {
  const body: Node = {
    kind: 'object',
    fields: fields.map(({ name, value }) => [name, isShortLambda(value) ? value.body : value] as const),
    start,
    end,
  }
  const parameters = [shortParameter]
  return { kind: 'lambda', parameters, rest: undefined, body, isProjection: true, start, end }
}

/** Visits a node and its descendants. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const child of childrenOf(node)) walk(child, visit)
}

export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'placeholder':
    case 'name':
    case 'match':
      return []
    case 'template':
      return node.parts.filter(part => typeof part !== 'string')
    case 'array':
      return node.elements
    case 'group':
      return [node.inner]
    case 'object':
      return node.fields.map(([, value]) => value)
    case 'block':
      return node.statements.map(statement => (statement.kind === 'let' ? statement.value : statement))
    case 'lambda':
      return [node.body]
    case 'if':
      return [node.condition, node.then, ...(node.otherwise === undefined ? [] : [node.otherwise])]
    case 'at':
      return [node.time, node.body]
    case 'unary':
      return [node.operand]
    case 'binary':
      return [node.left, node.right]
    case 'chain':
      return [node.operand, ...node.links.flatMap(link => ('arguments' in link ? link.arguments : []))]
    case 'projection':
      return [node.operand, ...(node.fields ?? []).map(({ value }) => value)]
  }
}
