// Checks collection definitions that queries of version 10 write: their shape, names, expressions and paths, and
// conflicts between their parts.

import type { FieldPath } from '../../model/failure.ts'
import {
  fieldOf,
  fieldsIn,
  listIn,
  namedIn,
  objectIn,
  partsIn,
  textIn,
} from '../../model/schema/definition-parts.ts'
import { typeFaultText } from '../../model/schema/fault-texts.ts'
import { pathSpelling } from '../../model/schema/paths.ts'
import { typeFailures } from '../../model/schema/type-check.ts'
import { isArray, isObject, type ObjectValue, type Value } from '../../values/value.ts'
import type { ConstraintFailure } from '../failure/query-failure.ts'
import { parseExpression, parseLambda, parseQuery } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'
import { collectionShape } from './collection-shape.ts'
import { normalIndex, partFailures, pathFailures } from './fsl/index-parts.ts'
import { memberNameFault, nameFault, plainNameFault } from './name-rules.ts'
import { constraintFailureAt, parseFailures, signatureFailures, unparsable } from './text-failures.ts'

/** Returns the text of an error if another schema object has the name. */
type FindNameConflict = (name: string) => string | undefined

interface CheckedDefinition {
  readonly definition: Map<string, Value>
  readonly failures: readonly ConstraintFailure[]
}

/**
 * `previous` is the stored definition. A name that does not change is not checked. If there are no failures, the result
 * contains the definition in the stored form.
 */
export function checkDefinition(
  given: ObjectValue,
  previous: ObjectValue | undefined,
  findNameConflict: FindNameConflict,
): CheckedDefinition {
  const { definition, failures: statusFailures } = withoutStatus(given, previous)
  const failures = [...statusFailures, ...definitionFailures(definition, previous, findNameConflict)]
  return { definition: failures.length > 0 ? definition : normalDefinition(definition), failures }
}

function definitionFailures(
  definition: ObjectValue,
  previous: ObjectValue | undefined,
  findNameConflict: FindNameConflict,
): readonly ConstraintFailure[] {
  const shape = typeFailures(collectionShape, definition, []).map(({ fault, path }) =>
    constraintFailureAt(path, String(typeFaultText(fault))),
  )
  const misshapen = new Set(shape.map(({ paths }) => paths[0]?.[0]))
  const failures = [...shape]
  for (const name of definition.keys()) {
    if (!misshapen.has(name)) failures.push(...(contentChecks[name]?.(definition) ?? []))
  }
  for (const name of ['name', 'alias']) {
    const value = definition.get(name)
    if (typeof value !== 'string' || value === previous?.get(name)) continue
    const fault = nameFault(value) ?? findNameConflict(value)
    if (fault !== undefined) failures.push(constraintFailureAt([name], fault))
  }
  return failures.length > 0 ? failures : jointFailures(definition)
}

type Check = (definition: ObjectValue) => readonly ConstraintFailure[]

function daysCheck(name: string): Check {
  return definition => {
    const value = definition.get(name)
    return typeof value === 'bigint' && value < 0n
      ? [constraintFailureAt([name], 'Non-negative value required.')]
      : []
  }
}

const contentChecks: Readonly<Record<string, Check>> = {
  history_days: daysCheck('history_days'),
  ttl_days: daysCheck('ttl_days'),
  wildcard: definition => signatureFailures(definition.get('wildcard'), ['wildcard'], '\n\n', '*wildcard*'),
  fields: definition =>
    namedIn(definition, 'fields').flatMap(([name, field]) => [
      ...nameFailures(name, 'fields', 'field'),
      ...signatureFailures(field.get('signature'), ['fields', name, 'signature'], '\n\n'),
      ...codeFailures(field.get('default'), ['fields', name, 'default'], '*body*', source =>
        parseQuery(source, []),
      ),
    ]),
  computed_fields: definition =>
    namedIn(definition, 'computed_fields').flatMap(([name, field]) => [
      ...nameFailures(name, 'computed_fields', 'field'),
      ...bodyFailures(field.get('body'), ['computed_fields', name, 'body']),
      ...signatureFailures(field.get('signature'), ['computed_fields', name, 'signature'], '\n\n'),
    ]),
  indexes: definition =>
    namedIn(definition, 'indexes').flatMap(([name, index]) => [
      ...nameFailures(name, 'indexes', 'index'),
      ...partFailures(index, ['indexes', name]),
    ]),
  constraints: definition => partsIn(definition, 'constraints').flatMap(constraintFailures),
  migrations: definition => partsIn(definition, 'migrations').flatMap(migrationFailures),
}

function nameFailures(name: string, field: string, part: 'field' | 'index'): readonly ConstraintFailure[] {
  const fault = memberNameFault(name, part)
  return fault === undefined ? [] : [constraintFailureAt([field], fault)]
}

/** `name` is the name of the text in the positions of the errors. */
function codeFailures(
  text: Value | undefined,
  path: FieldPath,
  name: string,
  parse: (source: Source) => unknown,
): readonly ConstraintFailure[] {
  if (typeof text !== 'string') return []
  return parseFailures(path, unparsable, '\n\n', () => {
    parse(new Source(name, text))
  })
}

function bodyFailures(text: Value | undefined, path: FieldPath): readonly ConstraintFailure[] {
  let count = 1
  const failures = codeFailures(text, path, '*body*', source => {
    const { parameters, rest } = parseLambda(source)
    count = rest !== undefined && parameters.length <= 1 ? 1 : parameters.length
  })
  if (failures.length > 0 || count === 1) return failures
  const found = `the function was defined with ${count} arguments`
  return [constraintFailureAt(path, `Invalid function arity. Expected exactly 1 argument, but ${found}`)]
}

const uniqueFaults: Readonly<Record<string, string>> = Object.fromEntries(
  ['id', 'coll', 'ts'].map(name => [name, `\`${name}\` is not supported as a unique constraint value.`]),
)

function constraintFailures(constraint: ObjectValue, position: number): readonly ConstraintFailure[] {
  const at = ['constraints', position]
  const check = constraint.get('check')
  if (!isObject(check)) {
    return listIn(constraint, 'unique').flatMap(item =>
      pathFailures(isObject(item) ? item.get('field') : item, [...at, 'unique'], uniqueFaults),
    )
  }
  const name = textIn(check, 'name')
  const fault = name === undefined ? undefined : plainNameFault(name)
  return [
    ...(fault === undefined ? [] : [constraintFailureAt([...at, 'check', 'name'], fault)]),
    ...bodyFailures(check.get('body'), [...at, 'check', 'body']),
  ]
}

function migrationFailures(migration: ObjectValue, position: number): readonly ConstraintFailure[] {
  return Array.from(migration).flatMap(([kind, given]) => {
    if (!isObject(given)) return []
    return Array.from(given).flatMap(([name, value]) => {
      const path = ['migrations', position, kind, name]
      if (name === 'value') return codeFailures(value, path, '*value*', parseExpression)
      const texts = isArray(value) ? value : [value]
      return texts.flatMap(text => migrationPathFailures(text, path))
    })
  })
}

function migrationPathFailures(text: Value, path: FieldPath): readonly ConstraintFailure[] {
  const isIndexed = fieldOf(text).path.some(step => typeof step === 'bigint')
  if (isIndexed) return [constraintFailureAt(path, 'Cannot index into an item in a migration path')]
  return pathFailures(text, path, {})
}

function jointFailures(definition: ObjectValue): readonly ConstraintFailure[] {
  const constraints = partsIn(definition, 'constraints')
  const checks = constraints.flatMap(each => textIn(objectIn(each, 'check'), 'name') ?? [])
  const uniques = constraints
    .filter(each => each.has('unique'))
    .map(each => fieldsIn(each, 'unique'))
    .map(fields => ({
      // A constraint on a whole array differs from a constraint on the array's elements (`mva`).
      key: fields.map(({ mva, path }) => `${mva} ${pathSpelling(path)}`).join(', '),
      paths: fields.map(({ path }) => pathSpelling(path)),
    }))
  const at = ['constraints']
  const fields = objectIn(definition, 'fields')
  return [
    ...repeated(checks).map(name => constraintFailureAt(at, `Duplicate check constraint name '${name}'`)),
    ...uniques
      .filter(({ paths }) => paths.length === 0)
      .map(() => constraintFailureAt(at, 'Unique constraints must have at least one term')),
    ...repeated(uniques.map(({ key }) => key)).flatMap(key => {
      const { paths } = uniques.find(each => each.key === key) as (typeof uniques)[number]
      const message = `Duplicate unique constraint on path [${paths.join(', ')}]`
      return paths.length === 0 ? [] : [constraintFailureAt(at, message)]
    }),
    ...[...objectIn(definition, 'computed_fields').keys()]
      .filter(name => fields.has(name))
      .map(name =>
        constraintFailureAt(['computed_fields'], `Computed field '${name}' collides with a defined field`),
      ),
  ]
}

function repeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}

const readOnlyText = 'Failed to update field because it is readonly'

/**
 * Only the service may set the status of indexes and constraints. A client may send back a definition that the client
 * has read. Therefore, existing indexes and constraints may have the status `active` or `complete`. Any other status is
 * a failure.
 */
function withoutStatus(definition: ObjectValue, previous: ObjectValue | undefined): CheckedDefinition {
  const failures: ConstraintFailure[] = []
  const strip = (item: Value, isKnown: boolean, path: readonly (string | number)[]): Value => {
    if (!isObject(item)) return item
    const status = item.get('status')
    if (status === undefined) return item
    const isAllowedStatus = isKnown && (status === 'active' || status === 'complete')
    if (!isAllowedStatus) failures.push({ paths: [[...path, 'status']], message: readOnlyText })
    return new Map([...item].filter(([name]) => name !== 'status'))
  }
  const stripped = new Map(definition)
  const indexes = definition.get('indexes')
  if (isObject(indexes)) {
    const before = objectIn(previous, 'indexes')
    const each = Array.from(indexes, ([name, item]): [string, Value] => [
      name,
      strip(item, before.has(name), ['indexes', name]),
    ])
    stripped.set('indexes', new Map(each))
  }
  const constraints = definition.get('constraints')
  if (isArray(constraints)) {
    const count = listIn(previous, 'constraints').length
    const each = constraints.map((item, index) => strip(item, index < count, ['constraints', index]))
    stripped.set('constraints', each)
  }
  return { definition: stripped, failures }
}

/** Index values without an order get the order `asc`, and unique constraints move before check constraints. */
function normalDefinition(definition: ObjectValue): Map<string, Value> {
  const normal = new Map(definition)
  const indexes = Array.from(
    objectIn(definition, 'indexes'),
    ([name, index]) => [name, normalIndex(index)] as const,
  )
  normal.set('indexes', new Map(indexes))
  const listed = listIn(definition, 'constraints')
  const isUnique = (item: Value) => isObject(item) && item.has('unique')
  normal.set('constraints', [
    ...listed.filter(isUnique).map(normalUnique),
    ...listed.filter(each => !isUnique(each)),
  ])
  return normal
}

/** If a field contains `mva`, all fields become objects. If no field contains `mva`, all fields become texts. */
function normalUnique(constraint: Value): Value {
  const unique = isObject(constraint) ? constraint.get('unique') : undefined
  if (!isArray(unique) || !isObject(constraint)) return constraint
  const isLong = unique.some(each => isObject(each) && each.has('mva'))
  const spelled = unique.map((each): Value => {
    if (isLong) return typeof each === 'string' ? new Map([['field', each]]) : each
    return isObject(each) ? (each.get('field') ?? each) : each
  })
  return new Map(constraint).set('unique', spelled)
}
