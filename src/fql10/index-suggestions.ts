// Suggests an index for each filter and sort order in the text of a query, such as `Orders.where(.status == "open")` or
// `Orders.all().order(desc(.placed))`. The explanation of the query contains the suggestions. The code of stored
// functions is not analyzed.

import { type Path, pathSpelling } from '../model/schema/paths.ts'
import { type IndexSuggestion, indexNameFor } from '../model/use-recorders.ts'
import { stepOf } from './syntax/field-paths.ts'
import type { LambdaNode, Link, Node, Program } from './syntax/nodes.ts'
import { walk } from './syntax/slices.ts'

/** A field that a filter or a sort order uses. `as` is the role that the field would have in an index. */
interface FieldUse {
  readonly path: Path
  readonly as: 'term' | 'value'
  readonly isDescending: boolean
}

const equality = '=='
const comparisons: ReadonlySet<string> = new Set(['<', '<=', '>', '>='])

/** Fields that are stored beside the field `data`. */
const fieldsBesideData: ReadonlySet<string | bigint> = new Set(['ts', 'ttl'])
/** An index of these fields is useless, because a query finds documents by id without an index. */
const identities: ReadonlySet<string | bigint> = new Set(['id', 'coll'])

/** Returns the suggestions in the order of the filters and sort orders in the query. */
export function indexSuggestionsOf({ body }: Program): readonly IndexSuggestion[] {
  const suggestions: IndexSuggestion[] = []
  walk(body, node => {
    if (node.kind !== 'chain' || node.operand.kind !== 'name') return
    const fields = fieldsOf(node.links)
    if (fields.length > 0) suggestions.push(suggestionOf(node.operand.name, onceEach(fields)))
  })
  return suggestions
}

/** Keeps one use of each field: the first use as a term, or the last use if the field is never a term. */
function onceEach(fields: readonly FieldUse[]): readonly FieldUse[] {
  const byPath = new Map<string, FieldUse>()
  for (const field of fields) {
    const spelling = pathSpelling(field.path)
    if (byPath.get(spelling)?.as !== 'term') byPath.set(spelling, field)
  }
  return [...byPath.values()]
}

/** The fields that the first links of a chain use to filter and sort the documents of a collection. */
function fieldsOf([first, ...others]: readonly Link[]): readonly FieldUse[] {
  if (first?.kind !== 'method') return []
  const found: FieldUse[] = []
  const links = first.name === 'all' && first.arguments.length === 0 ? others : [first, ...others]
  for (const link of links) {
    if (link.kind !== 'method') break
    if (link.name === 'where' || link.name === 'firstWhere') found.push(...link.arguments.flatMap(filterOf))
    else if (link.name === 'order') found.push(...link.arguments.flatMap(orderOf))
    else break
  }
  return found
}

function filterOf(argument: Node): readonly FieldUse[] {
  const lambda = lambdaOf(argument)
  return lambda === undefined ? [] : conditionsOf(lambda.body, lambda.parameters[0] as string)
}

function conditionsOf(node: Node, parameter: string): readonly FieldUse[] {
  if (node.kind === 'group') return conditionsOf(node.inner, parameter)
  if (node.kind !== 'binary') return []
  const { left, operator, right } = node
  if (operator === '&&') return [...conditionsOf(left, parameter), ...conditionsOf(right, parameter)]
  if (operator !== equality && !comparisons.has(operator)) return []
  const [path, ...others] = [left, right]
    .map(side => pathOf(side, parameter))
    .filter(each => each !== undefined)
  if (path === undefined || others.length > 0) return []
  return [{ path, as: operator === equality ? 'term' : 'value', isDescending: false }]
}

function orderOf(argument: Node): readonly FieldUse[] {
  const directed = argument.kind === 'chain' && argument.operand.kind === 'name' ? argument : undefined
  const name = directed?.operand.kind === 'name' ? directed.operand.name : ''
  const [call, ...more] = directed?.links ?? []
  const isDirected = (name === 'asc' || name === 'desc') && call?.kind === 'call' && more.length === 0
  const lambda = lambdaOf(isDirected ? call.arguments[0] : argument)
  const path = lambda && pathOf(lambda.body, lambda.parameters[0] as string)
  return path === undefined ? [] : [{ path, as: 'value', isDescending: isDirected && name === 'desc' }]
}

function lambdaOf(node: Node | undefined): LambdaNode | undefined {
  if (node?.kind === 'group') return lambdaOf(node.inner)
  return node?.kind === 'lambda' && node.parameters.length === 1 ? node : undefined
}

/** The stored path of a field of the lambda parameter `parameter`. Returns undefined for any other expression. */
function pathOf(node: Node, parameter: string): Path | undefined {
  if (node.kind === 'group') return pathOf(node.inner, parameter)
  if (node.kind !== 'chain' || node.operand.kind !== 'name' || node.operand.name !== parameter)
    return undefined
  const path: (string | bigint)[] = []
  for (const link of node.links) {
    if (link.kind === 'assert') continue
    const step = stepOf(link)
    if (step === undefined) return undefined
    path.push(step.name)
  }
  const [first] = path
  if (first === undefined || identities.has(first)) return undefined
  return fieldsBesideData.has(first) || first === 'data' ? path : ['data', ...path]
}

function suggestionOf(collection: string, fields: readonly FieldUse[]): IndexSuggestion {
  const usedAs = (as: FieldUse['as']) => fields.filter(field => field.as === as)
  const terms = usedAs('term').map(({ path }) => path)
  const values = usedAs('value')
  const listed = (name: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [`  ${name} [${texts.join(', ')}]`]
  const definition = [
    `index ${indexNameFor(fields.map(({ path }) => path))} {`,
    ...listed('terms', terms.map(spelled)),
    ...listed(
      'values',
      values.map(({ isDescending, path }) => (isDescending ? `desc(${spelled(path)})` : spelled(path))),
    ),
    '}',
  ].join('\n')
  return { collection, terms, values: values.map(({ path }) => path), isOwn: true, definition }
}

function spelled([first, ...others]: Path): string {
  return pathSpelling(first === 'data' ? others : [first as string, ...others])
}
