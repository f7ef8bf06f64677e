// Plans the migrations of a collection when a query or a push writes its definition. Computes the values of new fields
// in existing documents. Faults are reported after all writes of the query.

import { catchError } from '../../base/catch-error.ts'
import { step, stepsPerDefinition } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import { collectionFinder, runDefault } from '../../model/schema/collection-rules.ts'
import { pathText, typeFaultText } from '../../model/schema/fault-texts.ts'
import { type FieldType, isOptional, typeText } from '../../model/schema/field-types.ts'
import { appendSteps, type FieldNames, type Step } from '../../model/schema/migration-steps.ts'
import { typeFailures } from '../../model/schema/type-check.ts'
import type { FindCollection, ReferredCollection, Session } from '../../model/session.ts'
import { firstOf } from '../../model/sets/stream.ts'
import { native, type ObjectValue, type Ref, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { type Diagnostic, QueryFailure } from '../failure/query-failure.ts'
import { renderInMessage } from '../failure/summary.ts'
import type { CollectionItem } from '../schema/fsl/schema-items.ts'
import {
  type Declaration,
  type DeclaredExpression,
  declarationOf,
  declarationOfItem,
  type PlannedStep,
} from '../schema/migrations/declaration.ts'
import { type MigrationPlan, planMigration } from '../schema/migrations/migration-plan.ts'
import { renderError, sameQueryError } from './write-failures.ts'

/** Plans from the stored definition to an item of a schema file. Faults have positions in the file. */
export function migrationOfItem(item: CollectionItem, session: Session): MigrationPlan {
  step(stepsPerDefinition)
  const { database, transaction } = session
  const own = transaction.catalogue.resolve(database, native.collections, item.name.text)
  return planMigration(declarationOfItem(item), liveDeclaration(own, session), finderOf(session))
}

/** The definition has no valid migration for the existing documents. */
interface RejectedDefinition {
  readonly own: Ref | undefined
  readonly faults: readonly Diagnostic[]
  /** Defined if the reason has no position in a text. */
  readonly message: string | undefined
}

export class Migrations {
  readonly #session: Session
  /**
   * Rejections by collection name. If the query writes the definition of a collection again, its entry is replaced or
   * removed.
   */
  readonly #rejected = new Map<string, RejectedDefinition>()

  constructor(session: Session) {
    this.#session = session
  }

  /**
   * Adds the steps of the migration to the fields of a definition. `own` is the reference of the collection; undefined
   * for a new collection. Throws a QueryFailure if the query has written documents that the migration would change.
   */
  addSteps(fields: Map<string, StoredValue>, own: Ref | undefined, call: Call): void {
    const session = this.#session
    const name = String(fields.get('name'))
    this.#rejected.delete(name)
    const before = own && beforeQuery(own, session)
    const plan = planMigration(declarationOf(fields), liveDeclaration(own, session), finderOf(session))
    const reject = (message: string | undefined) =>
      this.#rejected.set(name, { own, faults: plan.faults, message })
    if (plan.faults.length > 0) reject(undefined)
    let steps: readonly Step[] = []
    if (own !== undefined && plan.steps.length > 0) {
      if (session.transaction.hasWritten(own.database, Number(own.id))) throw sameQueryError(call)
      const valued = hasVersion4Indexes(own, session)
        ? version4IndexesText
        : withValues(plan.steps, name, session)
      if (typeof valued === 'string') reject(valued)
      else steps = valued
    }
    appendSteps(fields, before, steps)
  }

  /** Throws a QueryFailure at `call` if a definition has no valid migration. Call it after all writes. */
  finish(call: Call): void {
    const { transaction } = this.#session
    const rejected = [...this.#rejected.values()].filter(
      ({ own }) => own === undefined || transaction.get(own) !== undefined,
    )
    if (rejected.length === 0) return
    const faults = rejected.flatMap(each => each.faults)
    const other = rejected.find(({ message }) => message !== undefined)?.message ?? ''
    const text = faults.length > 0 ? indented(renderInMessage(faults, '\n')) : other
    throw call.failure('invalid_schema', msg`Invalid database schema update.\n${text}`)
  }
}

const version4IndexesText =
  '\nconstraint failures:\n  Cannot create migrations on a collection with v4 indexes'

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

function beforeQuery(own: Ref, { transaction }: Session): ObjectValue | undefined {
  return transaction.get(own, transaction.snapshotTime)?.fields
}

/**
 * Returns the declaration before this query's writes. Returns undefined for a new collection, and for a collection
 * without documents.
 */
function liveDeclaration(own: Ref | undefined, session: Session): Declaration | undefined {
  if (own === undefined) return undefined
  const before = beforeQuery(own, session)
  return before !== undefined && hasDocuments(own, session) ? declarationOf(before) : undefined
}

export function hasDocuments({ database, id }: Ref, { transaction }: Session): boolean {
  return firstOf(transaction.documents(database, Number(id), {})) !== undefined
}

/** A migration cannot change the fields in the definition of an index of version 4. */
function hasVersion4Indexes({ database, id }: Ref, { transaction }: Session): boolean {
  return transaction.catalogue.indexesOf(database, Number(id)).some(({ isOwn }) => !isOwn)
}

/**
 * Finds collections by name. A missing collection gets a unique temporary number, because the same change of the schema
 * may create it. Names such as `NullJar` denote missing documents of a collection, so they get no number.
 */
export function finderOf(session: Session): FindCollection {
  const known = collectionFinder(session.database, session)
  const others = new Map<string, ReferredCollection>()
  return name => {
    const found = known(name)
    if (found !== undefined || name.startsWith('Null')) return found
    return upsert(others, name, () => ({ number: -1 - others.size, name }))
  }
}

/** A field to add. The value of the expression `value` is not computed yet. */
interface NewField {
  readonly path: FieldNames
  readonly type: FieldType
  readonly value: DeclaredExpression | undefined
}

/** Computes the values of new fields. Returns a text with all errors if a value is invalid. */
function withValues(
  steps: readonly PlannedStep[],
  collection: string,
  session: Session,
): readonly Step[] | string {
  const failures: string[] = []
  const filled = <F extends NewField>(field: F): Omit<F, 'value'> & { readonly value: StoredValue } => {
    const outcome = valueFor(field, collection, session)
    if ('failure' in outcome) failures.push(outcome.failure)
    return { ...field, value: 'value' in outcome ? outcome.value : null }
  }
  const done = steps.map((step): Step => {
    if (step.kind === 'add') return filled(step)
    return step.kind === 'split' ? { ...step, targets: step.targets.map(filled) } : step
  })
  return failures.length === 0 ? done : indented(failures.join('\n'))
}

type Outcome = { readonly value: StoredValue } | { readonly failure: string }

function valueFor(
  { path, type, value: expression }: NewField,
  collection: string,
  session: Session,
): Outcome {
  const outcome: Outcome =
    expression === undefined
      ? { value: null }
      : evaluate(expression, `*field:${collection}:${path.join('.')}*`, session)
  if ('failure' in outcome) return outcome
  const { value } = outcome
  const failures =
    value === null && !isOptional(type)
      ? [`${pathText(path)}: Expected ${typeText(type)}, provided Null`]
      : typeFailures(type, value, path).map(
          ({ fault, path: at }) => `${pathText(at)}: ${typeFaultText(fault)}`,
        )
  if (failures.length === 0) return outcome
  const lines = failures.map(each => `\n  ${each}`)
  return {
    failure: withoutPosition(`Failed to convert backfill value.\nconstraint failures:${lines.join('')}`),
  }
}

/** Adds the line for an error without a position, because errors of backfill values have no position in a text. */
function withoutPosition(message: string): string {
  return `error: ${message}\nat <no source>`
}

/** Evaluates an expression like the default value of a field, with rights that do not depend on the caller. */
function evaluate({ text }: DeclaredExpression, name: string, session: Session): Outcome {
  const authority = { kind: 'predicate', database: session.database } as const
  const run = () => ({
    value: session.withAuthority(authority, () => runDefault(text, name, session)),
  })
  return catchError(QueryFailure, run, (error): Outcome => {
    const why = error.code === 'invalid_type' ? `${error.message}.` : renderError(error)
    return { failure: withoutPosition(`Failed to convert migration.\n${why}`) }
  })
}
