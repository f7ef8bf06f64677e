// Checks the code of a schema: bodies of functions, computed fields, checks, defaults, the paths of indexes and unique
// constraints, and predicates.

import { step, stepsPerDefinition } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import type { IndexPath } from '../schema/fsl/index-parts.ts'
import {
  type CollectionItem,
  namesOf,
  ofKind,
  type ProviderItem,
  type RoleItem,
  type SchemaItem,
} from '../schema/fsl/schema-items.ts'
import type { TypeMember } from '../syntax/nodes.ts'
import type { Source, Span } from '../syntax/source.ts'
import { bounded } from './budget.ts'
import { solverFor } from './check-query.ts'
import { indexedFaults } from './indexable.ts'
import { libraryNames, libraryShapes } from './library.ts'
import { functionsByName, lambdaIn, ofDocument, SchemaTypes } from './schema-types.ts'
import type { Solver } from './solver.ts'
import { booleanType, namedType, nullType, type Type, type Use } from './terms.ts'

/** `untyped`: functions whose types are unknown, such as those of version 4. */
export function schemaErrors(
  items: readonly SchemaItem[],
  untyped: readonly string[],
): readonly Diagnostic[] {
  const collections = items.filter(item => item.kind === 'collection')
  const functions = items.filter(item => item.kind === 'function')
  const types = new SchemaTypes({ collections, functions: functionsByName(functions), untyped })
  const names = {
    collections: new Set(collections.flatMap(namesOf)),
    functions: new Set(functions.flatMap(namesOf)),
  }
  const errors = [
    ...collections.flatMap(item => nameErrors(item, collections)),
    ...collections.flatMap(item => collectionErrors(item, types)),
    ...collections.flatMap(item => indexedFaults(item, names)),
    ...functions.flatMap(item => {
      step(stepsPerDefinition)
      return types.functionType(item).errors
    }),
  ]
  if (errors.length > 0) return errors
  return items.flatMap(item =>
    item.kind === 'role' || item.kind === 'access provider' ? predicateErrors(item, types) : [],
  )
}

/** Types of a collection must not have the names of other types. */
function nameErrors(item: CollectionItem, all: readonly CollectionItem[]): readonly Diagnostic[] {
  // Version 4 permits names of the library, such as `Token`. Version 10 rejects them when the collection is created.
  if (libraryNames.has(item.name.text)) return []
  const own = namesOf(item).flatMap(typeNames)
  const others = new Set(all.flatMap(each => (each === item ? [] : namesOf(each).flatMap(typeNames))))
  const taken = own.filter(
    name => others.has(name) || (libraryShapes.has(name) && !namesOf(item).includes(name)),
  )
  if (taken.length === 0) return []
  const { name, source } = item
  const text = taken.join(', ')
  const message = msg`The collection name \`${name.text}\` generates types that conflict with the following existing types: ${text}`
  return [{ name: 'error', message, span: { source, start: name.start, end: name.end } }]
}

function typeNames(name: string): readonly string[] {
  return [name, `Null${name}`, `${name}Collection`]
}

/** The errors of a database without type checks: default values that do not have the types of their fields. */
export function defaultErrors(items: readonly SchemaItem[]): readonly Diagnostic[] {
  const collections = items.filter(item => item.kind === 'collection')
  const withDefaults = collections.filter(({ members }) => ofKind(members, 'field').some(hasDefault))
  if (withDefaults.length === 0) return []
  const types = new SchemaTypes({ collections, functions: new Map(), untyped: [] })
  return withDefaults.flatMap(({ members, source }) => {
    step(stepsPerDefinition)
    return ofKind(members, 'field').flatMap(each => fieldErrors(each, source, types, false))
  })
}

function hasDefault({ defaultValue, type }: Pick<TypeMember, 'defaultValue' | 'type'>): boolean {
  return defaultValue !== undefined || (type.kind === 'object' && type.members.some(hasDefault))
}

/** Checks the default values within object types, too. */
function fieldErrors(
  { defaultValue, type }: Pick<TypeMember, 'defaultValue' | 'type'>,
  source: Source,
  types: SchemaTypes,
  isTyped: boolean,
): readonly Diagnostic[] {
  if (defaultValue !== undefined)
    return types.checkDefault(defaultValue, source, types.declared(type, source).type, isTyped)
  return type.kind === 'object' ? type.members.flatMap(each => fieldErrors(each, source, types, isTyped)) : []
}

const checkResult: Type = { kind: 'union', members: [booleanType, nullType] }

function collectionErrors(item: CollectionItem, types: SchemaTypes): readonly Diagnostic[] {
  step(stepsPerDefinition)
  const { members, source } = item
  const document = namedType(item.name.text)
  return members.flatMap((member): readonly Diagnostic[] => {
    switch (member.kind) {
      case 'field':
        return fieldErrors(member, source, types, true)
      case 'computed':
        return types.computedType(item, member).errors
      case 'check':
        return types.checkLambda(lambdaIn(member.body), source, ofDocument(document, checkResult))
      case 'index':
        return member.members.flatMap(part =>
          part.paths.flatMap(path => pathErrors(path, source, document, types)),
        )
      case 'unique':
        return member.paths.flatMap(path => pathErrors(path, source, document, types))
      default:
        return []
    }
  })
}

/** Reports steps that do not exist. */
function pathErrors(
  { path, start, steps }: IndexPath,
  source: Source,
  document: Type,
  types: SchemaTypes,
): readonly Diagnostic[] {
  const solver = solverFor(types.inner)
  const check = () => {
    let type = document
    for (const [at, name] of path.entries()) {
      const range = steps[at]
      if (range === undefined) break
      const span = { source, start: range.start, end: range.end }
      const site = { source, start, end: range.start }
      const next = stepOf(solver, type, name, span, site)
      if (next === undefined) break
      type = next
    }
    return solver.errors
  }
  return bounded(check, () => [])
}

function stepOf(solver: Solver, type: Type, name: string | bigint, span: Span, site: Span): Type | undefined {
  const result = solver.variable()
  const use: Use =
    typeof name === 'string'
      ? { kind: 'select', field: name, result, nameSpan: span, dot: undefined }
      : { kind: 'access', args: [{ kind: 'literal', value: name, span }], result, argumentsSpan: span }
  return solver.check(type, use, site) ? result : undefined
}

function predicateErrors(
  { members, source }: RoleItem | ProviderItem,
  types: SchemaTypes,
): readonly Diagnostic[] {
  step(stepsPerDefinition)
  return (members as readonly (RoleItem | ProviderItem)['members'][number][]).flatMap(member => {
    const predicated = member.kind === 'privileges' ? member.actions : [member]
    return predicated.flatMap(each => {
      if (!('predicate' in each) || each.predicate === undefined) return []
      return types.checkLambda(lambdaIn(each.predicate.lambda), source, undefined)
    })
  })
}
