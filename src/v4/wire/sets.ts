// Sets and lambdas as responses show them: recipes that a client can send back and get the same set or function.

import { unreachable } from '../../base/assert.ts'
import { completeJsonObject, type JsonPiece, quoteJson } from '../../values/json-text.ts'
import { type Lambda, Ref, type Value } from '../../values/value.ts'
import { type SetLike, type SetShape, SetValue } from '../values/set-value.ts'
import { isAtLeast } from './version.ts'

/** What sets and lambdas need of the renderer they are part of. */
export interface PartRenderer {
  readonly apiVersion: string
  value(value: Value): JsonPiece
  array(items: readonly Value[]): string
  /** What stands behind `@set`. */
  setBody(shape: SetShape): JsonPiece
  /** Code of a lambda: values, but its objects are forms and stand as they are. */
  code(body: Value): JsonPiece
}

/** What stands behind `@set`; undefined when the set has a part that cannot be printed. */
export function renderSetBody(shape: SetShape, parts: PartRenderer): JsonPiece {
  switch (shape.type) {
    case 'match':
      return renderMatch(shape.index, shape.terms, parts)
    case 'documents':
      return completeJsonObject({ documents: parts.value(shape.collection) })
    case 'singleton':
      return completeJsonObject({ singleton: parts.value(shape.ref) })
    case 'events':
      return completeJsonObject({ events: renderEventsSource(shape.source, parts) })
    case 'union':
    case 'intersection':
    case 'difference':
      return completeJsonObject({ [shape.type]: renderOperands(shape.sets, parts) })
    case 'distinct':
    case 'reverse':
      return completeJsonObject({ [shape.type]: parts.value(shape.source) })
    case 'join':
      return completeJsonObject({
        join: parts.value(shape.source),
        with: shape.with instanceof Ref ? parts.value(shape.with) : renderLambda(shape.with, parts),
      })
    case 'filter':
      return completeJsonObject({
        filter: renderLambda(shape.lambda, parts),
        collection: parts.value(shape.source),
      })
    case 'range':
      return completeJsonObject({
        range: parts.value(shape.source),
        from: scalarOrArray(shape.from, parts),
        to: scalarOrArray(shape.to, parts),
      })
    default:
      return unreachable(shape)
  }
}

function renderMatch(index: Ref, terms: readonly Value[], parts: PartRenderer): JsonPiece {
  const match = parts.value(index)
  return completeJsonObject(terms.length === 0 ? { match } : { match, terms: scalarOrArray(terms, parts) })
}

/** The source of events stands without an `@set` of its own. */
function renderEventsSource(source: SetLike, parts: PartRenderer): JsonPiece {
  return source instanceof SetValue ? parts.setBody(source.shape) : parts.value(source)
}

/** A single operand stands alone, several in an array. */
function renderOperands(sets: readonly SetLike[], parts: PartRenderer): JsonPiece {
  const operands: string[] = []
  for (const set of sets) {
    const operand = parts.value(set)
    if (operand === undefined) return undefined
    operands.push(operand)
  }
  return operands.length === 1 ? operands[0] : `[${operands.join(',')}]`
}

/** A single value stands alone, unless it is an array and would read back as several. */
function scalarOrArray(values: readonly Value[], parts: PartRenderer): JsonPiece {
  const [first] = values
  return values.length === 1 && first !== undefined && !Array.isArray(first)
    ? parts.value(first)
    : parts.array(values)
}

/** The object of a lambda. It names its version unless both the lambda and the reader are older than that custom. */
export function renderLambda(lambda: Lambda, parts: PartRenderer): JsonPiece {
  const body = { lambda: parts.code(lambda.parameters), expr: parts.code(lambda.body) }
  if (!isAtLeast(lambda.apiVersion, '3') && !isAtLeast(parts.apiVersion, '3')) return completeJsonObject(body)
  return completeJsonObject({ api_version: quoteJson(lambda.apiVersion), ...body })
}
