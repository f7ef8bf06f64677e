// Defines the parts of an index (`terms` and `values`) and their paths: the text in schema files, the form in
// definitions, and the rules. src/model/schema/definition-parts.ts#fieldOf reads a path with its options.

import { msg } from '../../../base/message.ts'
import type { FieldPath } from '../../../model/failure.ts'
import { type DefinedField, fieldOf, partsIn } from '../../../model/schema/definition-parts.ts'
import {
  array,
  either,
  type FieldType,
  literal,
  object,
  optional,
  scalar,
} from '../../../model/schema/field-types.ts'
import { type Path, parsePath } from '../../../model/schema/paths.ts'
import { isArray, isObject, itemsOf, type ObjectValue, type Value } from '../../../values/value.ts'
import type { ConstraintFailure } from '../../failure/query-failure.ts'
import type { Node } from '../../syntax/nodes.ts'
import { constraintFailureAt } from '../text-failures.ts'
import { type Conversion, callOf, errorRange, isRange, listOf, pathNode, stepsOf } from './conversion.ts'
import type { OutlineMember, OutlineValue, SourceRange } from './outline.ts'
import { printPath } from './print-expression.ts'

/** The keywords of the parts, in their order in printed files and in definitions. */
export const partKinds = ['terms', 'values'] as const

type PartKind = (typeof partKinds)[number]

/** `terms […]` or `values […]`. `valueRange` is the range of the brackets. */
export interface IndexPart extends SourceRange {
  readonly kind: PartKind
  readonly valueRange: SourceRange
  readonly paths: readonly IndexPath[]
}

/** A path of an index or a unique constraint: `.a`, `mva(.a)`, `desc(.a)`. */
export interface IndexPath extends SourceRange, DefinedField {
  readonly steps: readonly SourceRange[]
}

export function isPart<M extends { readonly kind: string }>(
  member: M,
): member is Extract<M, { readonly kind: PartKind }> {
  return (partKinds as readonly string[]).includes(member.kind)
}

/** The functions that each kind of part allows around a path, such as `desc(.a)`. */
const wrappers = { terms: ['mva'], values: ['asc', 'desc', 'mva'] } as const

/** Records a fault for each invalid path and omits it. Returns undefined if the part is not a list in brackets. */
export function indexPart(
  kind: PartKind,
  item: OutlineMember,
  conversion: Conversion,
): IndexPart | undefined {
  const valueRange = listOf(item, conversion)
  const paths = valueRange && indexPaths(valueRange, kind, conversion)
  return valueRange && paths && { kind, valueRange, paths, start: item.start, end: item.end }
}

/** For a unique constraint, `kind` is `terms`. Returns undefined if `value` is not a list in brackets. */
export function indexPaths(
  value: OutlineValue,
  kind: PartKind,
  conversion: Conversion,
): readonly IndexPath[] | undefined {
  if (value.kind !== 'list') return conversion.fault(msg`Expected an array of ${kind}`, errorRange(value))
  return value.elements.flatMap(element => indexPath(element, kind, conversion) ?? [])
}

function indexPath(element: Node, kind: PartKind, conversion: Conversion): IndexPath | undefined {
  let node = pathNode(element)
  let mva = false
  let order: 'asc' | 'desc' | undefined
  for (let call = callOf(node); call !== undefined; call = callOf(node)) {
    const { argument, name } = call
    const isKnown = (wrappers[kind] as readonly string[]).includes(name.name)
    if (!isKnown || (name.name === 'mva' ? mva : order !== undefined)) {
      const expected = kind === 'terms' ? "'mva'" : "'asc', 'desc', or 'mva'"
      return conversion.fault(msg`Expected ${expected}`, name)
    }
    if (name.name === 'mva') mva = true
    else order = name.name as 'asc' | 'desc'
    node = pathNode(argument)
  }
  const steps = stepsOf(node)
  if (isRange(steps)) return conversion.fault(msg`Invalid field path`, steps)
  const path: Path = steps.map(({ name }) => name)
  return { path, mva, order: order ?? 'asc', steps, start: element.start, end: element.end }
}

/** Prints a list of paths, such as `[.a, mva(.b)]`. */
export function printPaths(paths: readonly DefinedField[]): string {
  const printed = paths.map(({ mva, order, path }) => {
    const inner = mva ? `mva(${printPath(path)})` : printPath(path)
    return order === 'desc' ? `desc(${inner})` : inner
  })
  return `[${printed.join(', ')}]`
}

const mva = optional(scalar('Boolean'))
const term = object({ field: scalar('String'), mva })
const value = object({
  field: scalar('String'),
  order: optional(literal('asc'), literal('desc')),
  mva,
})

/** The type of terms in definitions, and of the fields of unique constraints. */
export const termsType: FieldType = array(term)

const [terms, values] = [termsType, array(value)]
const ofIndex = { queryable: optional(scalar('Boolean')) }

/** Clients write indexes without `status`, which the service adds. */
export const indexType: FieldType = either(
  object({ terms, ...ofIndex }),
  object({ values, ...ofIndex }),
  object({ terms, values, ...ofIndex }),
)

/** The paths in the part of the given kind. The result is empty if the index has no part of this kind. */
export function pathsIn(members: readonly IndexPart[], kind: PartKind): readonly IndexPath[] {
  return members.find(each => each.kind === kind)?.paths ?? []
}

export function definitionOfIndex(members: readonly IndexPart[]): ObjectValue {
  const definition = new Map<string, Value>()
  for (const kind of partKinds) {
    const paths = pathsIn(members, kind)
    if (paths.length > 0)
      definition.set(kind, kind === 'terms' ? definitionOfTerms(paths) : paths.map(ofValue))
  }
  return definition
}

/** The definition of terms, or of the fields of a unique constraint. */
export function definitionOfTerms(paths: readonly IndexPath[]): Value {
  return paths.map(
    ({ mva: isMva, path }) =>
      new Map<string, Value>([
        ['field', printPath(path)],
        ['mva', isMva],
      ]),
  )
}

function ofValue({ mva: isMva, order, path }: IndexPath): Value {
  return new Map<string, Value>([
    ['field', printPath(path)],
    ['order', order],
    ['mva', isMva],
  ])
}

export function textOfParts(index: ObjectValue): readonly string[] {
  return partKinds.flatMap(kind => {
    const paths = itemsOf(index.get(kind))
    return paths.length === 0 ? [] : [`${kind} ${textOfPaths(paths)}`]
  })
}

/** The text of terms, values, or the fields of a unique constraint, from their definition. */
export function textOfPaths(defined: Value | undefined): string {
  return printPaths(itemsOf(defined).map(fieldOf))
}

/** Values without an order get the order `asc`. The definition must be valid. */
export function normalIndex(index: Value): Value {
  if (!isObject(index)) return index
  const listed = index.get('values')
  return isArray(listed) ? new Map(index).set('values', listed.map(withOrder)) : index
}

function withOrder(given: Value): Value {
  if (!isObject(given) || given.has('order')) return given
  const ordered = new Map<string, Value>()
  for (const [name, each] of given) {
    ordered.set(name, each)
    if (name === 'field') ordered.set('order', 'asc')
  }
  return ordered
}

/** The error texts for metadata fields that a part may not contain, by field. */
const forbidden: Readonly<Record<PartKind, Readonly<Record<string, string>>>> = {
  terms: {
    id: '`id` is not supported as an index term, use the native byId method to look up a document by its id.',
    coll: '`coll` is not supported as an index term.',
    ts: '`ts` may only be used as an index value, not as an index term.',
  },
  values: { coll: '`coll` is not supported as a specified index value.' },
}

/** `path` is the path of the index in the definition. */
export function partFailures(index: ObjectValue, path: readonly string[]): readonly ConstraintFailure[] {
  return partKinds.flatMap(kind =>
    partsIn(index, kind).flatMap((item, position) =>
      pathFailures(item.get('field'), [...path, kind, position, 'field'], forbidden[kind]),
    ),
  )
}

/**
 * Checks a path of an index, a unique constraint or a migration. The result is empty if `text` is not a string, because
 * the shape of a definition is checked separately. `path` is the path in the definition. `faults` contains the error
 * texts for the metadata fields that the path may not name, by field.
 */
export function pathFailures(
  text: Value | undefined,
  path: FieldPath,
  faults: Readonly<Record<string, string>>,
): readonly ConstraintFailure[] {
  const fault = typeof text === 'string' ? pathFault(text, faults) : undefined
  return fault === undefined ? [] : [constraintFailureAt(path, fault)]
}

function pathFault(text: string, faults: Readonly<Record<string, string>>): string | undefined {
  if (text === '') return 'Value cannot be empty.'
  const path = parsePath(text)
  if (path === undefined) return `Value \`${text}\` is not a valid FQL path expression.`
  const [only] = path
  return path.length === 1 && typeof only === 'string' && Object.hasOwn(faults, only)
    ? faults[only]
    : undefined
}
