// The rules in a collection's definition for its documents: types of fields, default values, and check constraints.
// The rules apply in all languages, to all writes except inserted history versions.

import { catchError } from '../../base/catch-error.ts'
import { isArray, isObject, native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { aliasesOf } from '../auth/resource-names.ts'
import { type FailedCheck, Failure, type FieldPath, LanguageError } from '../failure.ts'
import { uncounted } from '../read.ts'
import { type Draft, failurePlaceOf } from '../resources/resource.ts'
import type { FindCollection, Session } from '../session.ts'
import { namedIn, objectIn, partsIn, textIn } from './definition-parts.ts'
import { anyType, type FieldType, type MemberType, type ObjectType } from './field-types.ts'
import { valueAt } from './paths.ts'
import { typeFailures } from './type-check.ts'

interface Check {
  readonly name: string
  /** The source text of a function of version 10. */
  readonly body: string
}

interface Rules {
  readonly name: string
  /** The type of `data`. Undefined if the collection declares no fields. */
  readonly data: ObjectType | undefined
  readonly checks: readonly Check[]
}

const noRules: Rules = { name: '', data: undefined, checks: [] }

function rulesOf({ database, collection }: Ref, session: Session): Rules {
  const { transaction } = session
  return transaction.catalogue.derived(database, `rules of ${collection}`, () => {
    const ref = new Ref(database, native.collections, BigInt(collection))
    const definition = uncounted(transaction, () => transaction.get(ref))?.fields
    if (definition === undefined) return noRules
    return {
      name: textIn(definition, 'name') ?? '',
      data: dataType(definition, database, session),
      checks: checksOf(definition),
    }
  })
}

function dataType(definition: ObjectValue, database: bigint, session: Session): ObjectType | undefined {
  if (!isObject(definition.get('fields'))) return undefined
  const find = collectionFinder(database, session)
  const fields = new Map<string, MemberType>()
  for (const [name, field] of namedIn(definition, 'fields')) {
    const signature = textIn(field, 'signature')
    const type = signature === undefined ? anyType : session.typeOf(signature, find)
    fields.set(name, { type, defaultValue: textIn(field, 'default') })
  }
  return { kind: 'object', fields, wildcard: definition.has('wildcard') ? anyType : undefined }
}

function checksOf(definition: ObjectValue): readonly Check[] {
  return partsIn(definition, 'constraints').flatMap(each => {
    const check = objectIn(each, 'check')
    const [name, body] = [textIn(check, 'name'), textIn(check, 'body')]
    return name !== undefined && body !== undefined ? [{ name, body }] : []
  })
}

/** The native collections that can occur in types of fields. */
export const referable: ReadonlyMap<string, number> = new Map<string, number>([
  ['Key', native.keys],
  ['Token', native.tokens],
  ['Credential', native.credentials],
])

/** Returns a function for the parser of field types. The function finds a collection by name or alias. */
export function collectionFinder(database: bigint, { transaction }: Session): FindCollection {
  const { catalogue } = transaction
  return name => {
    const ref =
      catalogue.resolve(database, native.collections, name) ??
      aliasesOf(database, native.collections, transaction).get(name)
    if (ref !== undefined) return { number: Number(ref.id), name: catalogue.nameOf(ref) ?? name }
    const number = referable.get(name)
    return number === undefined ? undefined : { number, name }
  }
}

/** The members of a draft that {@link applyTypes} needs. */
type TypedDraft = Pick<Draft, 'mode' | 'ref' | 'patch' | 'fields' | 'typeFailures' | 'session'>

/** The members of a draft that {@link runChecks} needs. */
type CheckedDraft = Pick<Draft, 'mode' | 'ref' | 'session'>

/**
 * Adds default values to a new or replaced document, and a failure to `draft.typeFailures` for each value that does not
 * match its declared type. `known` contains values that missing fields get instead of their default values. Throws a
 * Failure if the evaluation of a default fails.
 */
export function applyTypes(draft: TypedDraft, known?: Value): void {
  const { fields, mode, patch, ref, session, typeFailures: failures } = draft
  if (mode === 'history') return
  const { data: type, name } = rulesOf(ref, session)
  if (type === undefined) return
  const stored = fields.get('data')
  let data = isObject(stored) ? stored : new Map<string, Value>()
  if (mode !== 'update') {
    const evaluate = (expression: string, path: FieldPath) => {
      const field = String(path[0])
      return valueAt(known, path) ?? valueOfDefault(expression, `*field:${name}:${field}*`, field, draft)
    }
    data = withDefaults(type, patch.get('data') ?? undefined, data, evaluate)
    if (data.size > 0) fields.set('data', data)
  }
  failures.push(...typeFailures(type, data, ['data']))
}

/** `name` is the name of the source in error positions. */
export function runDefault(source: string, name: string, session: Session): Value {
  return session.with({ effectLimit: 'pure', effectPlace: 'default values' }, () =>
    session.run({ language: '10', source, name, isExpression: true }, { list: [] }),
  )
}

/** Like {@link runDefault}, but converts a LanguageError to a Failure. */
function valueOfDefault(source: string, name: string, field: string, { mode, session }: CheckedDraft): Value {
  const run = () => runDefault(source, name, session)
  return catchError(LanguageError, run, error => {
    throw Failure.of({ kind: 'failed default', field, error }, failurePlaceOf(mode))
  })
}

/** Like predicates of roles, checks may read all documents of the database. */
export function runChecks(draft: CheckedDraft): void {
  const { mode, ref, session } = draft
  if (mode === 'history') return
  const { checks } = rulesOf(ref, session)
  if (checks.length === 0) return
  const failed: FailedCheck[] = []
  for (const { body, name } of checks) {
    const result = checkResult(body, name, draft)
    if (result === true) continue
    failed.push({ name, why: result === false || result === null ? 'not met' : 'no boolean' })
  }
  if (failed.length > 0) throw Failure.of({ kind: 'failed checks', checks: failed }, failurePlaceOf(mode))
}

function checkResult(source: string, name: string, { mode, ref, session }: CheckedDraft): Value {
  const code = { language: '10', source, name: `*check_constraint:${name}*` } as const
  const run = () => session.run(code, { list: [ref] })
  const readOnly = () => session.with({ effectLimit: 'read', effectPlace: 'check constraints' }, run)
  const checked = () => session.withAuthority({ kind: 'predicate', database: ref.database }, readOnly)
  return catchError(LanguageError, checked, error => {
    throw Failure.of({ kind: 'broken check', error }, failurePlaceOf(mode))
  })
}

/** The default of the field at `path` in the data. */
type EvaluateDefault = (expression: string, path: FieldPath) => Value

/**
 * Adds default values for the missing fields of `given`. `given` is the object in the query, and `stored` is the same
 * object without nulls. `path` is the path of the object in the data. Returns `stored` itself if no default is added. A
 * null field gets no default, because null explicitly means no value.
 */
export function withDefaults(
  { fields }: ObjectType,
  given: Value | undefined,
  stored: ObjectValue,
  evaluate: EvaluateDefault,
  path: FieldPath = [],
): ObjectValue {
  const named = isObject(given) ? given : stored
  let filled: Map<string, Value> | undefined
  for (const [name, { type, defaultValue }] of fields) {
    const before = stored.get(name)
    const at = () => [...path, name]
    let value = before
    if (before !== undefined) value = filledValue(type, named.get(name), before, evaluate, at)
    else if (named.has(name)) continue
    else if (defaultValue !== undefined) value = evaluate(defaultValue, at())
    else if (type.kind === 'object') value = withDefaults(type, undefined, new Map(), evaluate, at())
    if (value === before || value === undefined || value === null) continue
    filled ??= new Map(stored)
    filled.set(name, value)
  }
  return filled ?? stored
}

function filledValue(
  type: FieldType,
  given: Value | undefined,
  stored: Value,
  evaluate: EvaluateDefault,
  at: () => FieldPath,
): Value {
  switch (type.kind) {
    case 'object':
      return isObject(stored) ? withDefaults(type, given, stored, evaluate, at()) : stored
    case 'array': {
      if (!isArray(stored)) return stored
      const named = isArray(given) && given.length === stored.length ? given : stored
      const filled = stored.map((each, index) =>
        filledValue(type.element, named[index], each, evaluate, () => [...at(), index]),
      )
      return filled.some((each, index) => each !== stored[index]) ? filled : stored
    }
    case 'union': {
      // With several objects or arrays, it is unknown whose defaults apply.
      const [only, ...others] = type.members.filter(({ kind }) => kind === 'object' || kind === 'array')
      return only && others.length === 0 ? filledValue(only, given, stored, evaluate, at) : stored
    }
    default:
      return stored
  }
}
