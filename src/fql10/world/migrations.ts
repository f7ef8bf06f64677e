// Migrations of the collections that a query or a push writes: what a new definition means for the documents that are
// there, and the values that they get by it. What is wrong is told when all is written.

import { catchError } from '../../base/catch-error.ts'
import { step, stepsPerDefinition } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import { collectionFinder, runDefault } from '../../model/schema/collection-rules.ts'
import { pathText, typeFaultText } from '../../model/schema/fault-texts.ts'
import { type FieldType, isOptional, typeText } from '../../model/schema/field-types.ts'
import { type FieldNames, noteSteps, type Step } from '../../model/schema/migration-steps.ts'
import { typeFailures } from '../../model/schema/type-check.ts'
import type { FindCollection, ReferredCollection, Session } from '../../model/session.ts'
import { native, type ObjectValue, type Ref, type Value as StoredValue } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { type Diagnostic, QueryFailure } from '../failure/failure.ts'
import { drawnInMessage } from '../failure/summary.ts'
import type { CollectionItem } from '../schema/fsl/nodes.ts'
import { type Declaration, declarationOf, declarationOfItem } from '../schema/migrations/declaration.ts'
import { type MigrationPlan, planMigration } from '../schema/migrations/plan.ts'
import type { Filler, PlannedStep } from '../schema/migrations/planned-step.ts'
import { drawn, sameQuery } from './refusals.ts'

/** What an item of a schema file means for the documents of its collection; what is wrong with it has places. */
export function migrationOfItem(item: CollectionItem, session: Session): MigrationPlan {
  step(stepsPerDefinition)
  const { database, transaction } = session
  const own = transaction.catalogue.resolve(database, native.collections, item.name.text)
  return planMigration(declarationOfItem(item), liveDeclaration(own, session), finderOf(session))
}

/** A definition that cannot be migrated to. */
interface Refusal {
  readonly own: Ref | undefined
  readonly faults: readonly Diagnostic[]
  /** What is wrong where no statement is. */
  readonly message: string | undefined
}

/** The migrations of one query. */
export class Migrations {
  readonly #session: Session
  /** By the name of the collection: what was written of it last counts. */
  readonly #refusals = new Map<string, Refusal>()

  constructor(session: Session) {
    this.#session = session
  }

  /** Gives a definition that is to be written the steps that its documents take. `own`: the collection, when it is there already. */
  settle(fields: Map<string, StoredValue>, own: Ref | undefined, call: Call): void {
    const session = this.#session
    const name = String(fields.get('name'))
    this.#refusals.delete(name)
    const before = own && beforeQuery(own, session)
    const plan = planMigration(declarationOf(fields), liveDeclaration(own, session), finderOf(session))
    const refuse = (message: string | undefined) =>
      this.#refusals.set(name, { own, faults: plan.faults, message })
    if (plan.faults.length > 0) refuse(undefined)
    let steps: readonly Step[] = []
    if (own !== undefined && plan.steps.length > 0) {
      if (session.transaction.hasWritten(own.database, Number(own.id))) throw sameQuery(call)
      const valued = hasForeignIndexes(own, session) ? foreignIndexes : withValues(plan.steps, name, session)
      if (typeof valued === 'string') refuse(valued)
      else steps = valued
    }
    noteSteps(fields, before, steps)
  }

  /** All is written. Throws a QueryFailure at `call` for definitions that cannot be migrated to. */
  finish(call: Call): void {
    const { transaction } = this.#session
    const refusals = [...this.#refusals.values()].filter(
      ({ own }) => own === undefined || transaction.get(own) !== undefined,
    )
    if (refusals.length === 0) return
    const faults = refusals.flatMap(refusal => refusal.faults)
    const other = refusals.find(({ message }) => message !== undefined)?.message ?? ''
    const told = faults.length > 0 ? indented(drawnInMessage(faults, '\n')) : other
    throw call.failure('invalid_schema', msg`Invalid database schema update.\n${told}`)
  }
}

const foreignIndexes = '\nconstraint failures:\n  Cannot create migrations on a collection with v4 indexes'

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

/** The definition of a collection as it was before this query wrote anything. */
function beforeQuery(own: Ref, { transaction }: Session): ObjectValue | undefined {
  return transaction.get(own, transaction.snapshotTime)?.fields
}

/** What the documents of a collection are by its definition; undefined when there are none. */
function liveDeclaration(own: Ref | undefined, session: Session): Declaration | undefined {
  if (own === undefined) return undefined
  const before = beforeQuery(own, session)
  return before !== undefined && hasDocuments(own, session) ? declarationOf(before) : undefined
}

function hasDocuments({ database, id }: Ref, { transaction }: Session): boolean {
  for (const _ of transaction.documents(database, Number(id), {})) return true
  return false
}

/** Whether version 4 keeps an index over the documents: it would not know what becomes of its fields. */
function hasForeignIndexes({ database, id }: Ref, { transaction }: Session): boolean {
  return transaction.catalogue.indexesOf(database, Number(id)).some(({ isOwn }) => !isOwn)
}

/** Finds collections by name; those that are not there (yet) are told apart by names that they alone have. */
function finderOf(session: Session): FindCollection {
  const known = collectionFinder(session.database, session)
  const others = new Map<string, ReferredCollection>()
  return name => {
    const found = known(name)
    if (found !== undefined || name.startsWith('Null')) return found
    return upsert(others, name, () => ({ number: -1 - others.size, name }))
  }
}

// ---------------------------------------------------------------------------------------------- values

/** A field whose value is not known yet. */
interface Unfilled {
  readonly path: FieldNames
  readonly type: FieldType
  readonly value: Filler | undefined
}

/** The steps with their values; a text that says what is wrong with one of them. */
function withValues(
  steps: readonly PlannedStep[],
  collection: string,
  session: Session,
): readonly Step[] | string {
  const failures: string[] = []
  const filled = <F extends Unfilled>(field: F): Omit<F, 'value'> & { readonly value: StoredValue } => {
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

function valueFor({ path, type, value: filler }: Unfilled, collection: string, session: Session): Outcome {
  const outcome: Outcome =
    filler === undefined
      ? { value: null }
      : evaluated(filler, `*field:${collection}:${path.join('.')}*`, session)
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
  return { failure: unplaced(`Failed to convert backfill value.\nconstraint failures:${lines.join('')}`) }
}

/** What is wrong with a value is at no place of a text (reference, schema endpoints, 5). */
function unplaced(message: string): string {
  return `error: ${message}\nat <no source>`
}

/** Runs an expression as the service, by the rules of default values. */
function evaluated({ expression }: Filler, name: string, session: Session): Outcome {
  const authority = { kind: 'predicate', database: session.database } as const
  const run = () => ({
    value: session.withAuthority(authority, () => runDefault(expression.text, name, session)),
  })
  return catchError(QueryFailure, run, (error): Outcome => {
    const why = error.code === 'invalid_type' ? `${error.message}.` : drawn(error)
    return { failure: unplaced(`Failed to convert migration.\n${why}`) }
  })
}
