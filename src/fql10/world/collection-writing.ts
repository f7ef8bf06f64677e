// Prepares collection definitions for storage, and renders violations of their unique constraints.

import { catchError } from '../../base/catch-error.ts'
import { aliasesOf } from '../../model/auth/resource-names.ts'
import type { Failure } from '../../model/failure.ts'
import { constraintOf } from '../../model/schema/collection-indexes.ts'
import { runDefault } from '../../model/schema/collection-rules.ts'
import { namedIn, textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { native, type ObjectValue, Ref, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { type ConstraintFailure, QueryFailure } from '../failure/query-failure.ts'
import { checkDefinition } from '../schema/collection-definition.ts'
import { collectionShape } from '../schema/collection-shape.ts'
import { constraintFailureAt } from '../schema/text-failures.ts'
import { renderError, uniqueFailure } from './write-failures.ts'

/**
 * Converts the fields in place, and returns the faults of the definition. `own` is the reference of the collection;
 * undefined for a new collection.
 */
export function prepareDefinition(
  fields: Map<string, StoredValue>,
  own: Ref | undefined,
  session: Session,
): readonly ConstraintFailure[] {
  const given = new Map([...fields].filter(([name]) => collectionShape.fields.has(name)))
  const previous = own && session.transaction.get(own)?.fields
  const { definition, failures } = checkDefinition(given, previous, name =>
    findNameConflict(name, own, session),
  )
  for (const [name, value] of definition) fields.set(name, value)
  return failures.length > 0 ? failures : defaultFailures(definition, session)
}

/** Evaluates the default values, and returns the faults of those that fail. */
function defaultFailures(definition: ObjectValue, session: Session): readonly ConstraintFailure[] {
  return namedIn(definition, 'fields').flatMap(([name, field]) => {
    const source = textIn(field, 'default')
    if (source === undefined) return []
    const run = () => {
      runDefault(source, `*field:${name}*`, session)
      return []
    }
    return catchError(QueryFailure, run, error => [
      constraintFailureAt([name], `Default field evaluation failed.\n${renderError(error)}`),
    ])
  })
}

/**
 * Collections and functions share one namespace of names and aliases. `own` is the reference of the object that gets
 * the name; undefined for a new object.
 */
export function findNameConflict(name: string, own: Ref | undefined, session: Session): string | undefined {
  const { database, transaction } = session
  for (const [kind, number] of [
    ['Collection', native.collections],
    ['Function', native.functions],
  ] as const) {
    const isOther = (ref: Ref | undefined) =>
      ref !== undefined && (own === undefined || ref.collection !== own.collection || ref.id !== own.id)
    if (isOther(transaction.catalogue.resolve(database, number, name))) {
      return `A ${kind} already exists with the name \`${name}\``
    }
    if (isOther(aliasesOf(database, number, transaction).get(name))) {
      return `A ${kind} already exists with the alias \`${name}\``
    }
  }
  return undefined
}

/** The error for violated unique constraints, which names their fields. Returns undefined for other failures. */
export function uniqueViolation({ faults }: Failure, session: Session, call: Call): QueryFailure | undefined {
  const [fault] = faults
  if (fault?.kind !== 'not unique' || fault.indexes.length === 0) return undefined
  const known = fault.indexes.map(index => constraintLabel(index, session)).filter(({ length }) => length > 0)
  if (known.length === 0) return undefined
  return uniqueFailure(known, call)
}

/**
 * The fields of a unique constraint, or the name of an index of version 4. Returns an empty array if the constraint is
 * unknown.
 */
function constraintLabel(index: Ref, session: Session): string | readonly (readonly (string | number)[])[] {
  const definition = session.transaction.catalogue.index(index)
  if (definition !== undefined && !definition.isOwn) return definition.name
  const [source] = definition?.sources ?? []
  const number = source === undefined || source.collections === '_' ? undefined : source.collections[0]
  if (number === undefined) return []
  const collection = new Ref(index.database, native.collections, BigInt(number))
  const fields = constraintOf(index, collection, session) ?? []
  return fields.map(({ path }) => path.map(step => (typeof step === 'bigint' ? Number(step) : step)))
}
