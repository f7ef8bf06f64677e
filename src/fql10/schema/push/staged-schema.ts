// Manages staged schemas, which take effect when a client commits them. Before the commit, the service stores the
// staged files and builds the staged indexes, but does not store the staged definitions. Each push must be a valid
// change of the active schema. To read or write staged definitions, the service activates the staged schema in a
// rehearsal (dry run): a transaction whose writes are discarded.

import { msg } from '../../../base/message.ts'
import { type UnreadyPart, unreadyParts } from '../../../model/schema/collection-indexes.ts'
import {
  isStaged,
  readSchemaFiles,
  stageSchemaFiles,
  unstageSchema,
} from '../../../model/schema/schema-files.ts'
import { updateOwnIndexes } from '../../../model/schema/stored-indexes.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import { definitionOf } from '../fsl/definition-of-item.ts'
import { printPaths } from '../fsl/index-parts.ts'
import { type FileText, itemsIn } from '../fsl/patch.ts'
import { currentFiles, definitionsOf, refreshFiles, storeFiles } from './current-files.ts'
import { applyPlan, type Push, type PushPlan, planOf, resultOf } from './push-plan.ts'
import { SchemaFailure } from './route.ts'

/** Only a schema that is `ready` can be committed. */
type StagedStatus = 'none' | 'pending' | 'ready' | 'failed'

/** Returns the active files if no schema is staged. */
export function stagedFiles(session: Session): readonly FileText[] {
  return isStaged(session) ? readSchemaFiles('staged', session) : refreshFiles(session)
}

/** Throws a SchemaFailure if the staged files are no longer a valid change of the active schema. */
export function stagedPlan(session: Session): PushPlan {
  return planOf({ files: readSchemaFiles('staged', session), isWhole: true }, session)
}

/**
 * Creates a session, for the same query, in which the staged schema is active and writes are discarded. Throws a
 * SchemaFailure if the staged files are no longer a valid change of the active schema.
 */
export function stagedSession(session: Session): Session {
  return rehearse(readSchemaFiles('staged', session), session)
}

/** Activates the files in a session whose writes are discarded. */
function rehearse(files: readonly FileText[], session: Session): Session {
  const rehearsal = session.withTransaction(session.transaction.rehearsal())
  if (isStaged(rehearsal)) unstageSchema(rehearsal)
  applyPlan(planOf({ files, isWhole: true }, rehearsal), rehearsal)
  session.countCostsOf(rehearsal)
  return rehearsal
}

/** Throws a SchemaFailure if the files are not a valid change of the active schema. */
export function stagePush(push: Push, session: Session): void {
  const files = resultOf(push, stagedFiles(session))
  const { after } = planOf({ files, isWhole: true }, session)
  // Finds faults that only the writes of a push find.
  rehearse(files, session)
  stage(after, session)
}

export function stageRehearsal(rehearsal: Session, session: Session): void {
  stage(currentFiles(rehearsal), session)
}

/** Stores the staged files and the current active files, and begins to build the indexes that the staged files add. */
function stage(files: readonly FileText[], session: Session): void {
  storeFiles(currentFiles(session), session)
  stageSchemaFiles(files, session)
  const planned = new Map(plannedCollections(session).map(({ definition, ref }) => [ref.id, definition]))
  for (const { definition, ref } of collectionsOf(session)) {
    updateOwnIndexes(ref, definition, session, [], { planned: planned.get(ref.id) })
  }
}

/** Throws a SchemaFailure if no schema is staged, or if the staged schema is not ready or no longer valid. */
export function commitStaged(session: Session): void {
  const { status } = stagedState(session)
  if (status === 'none') throw new SchemaFailure(400, msg`There is no staged schema to commit`)
  const hint = 'Check schema status for details.'
  if (status === 'failed') {
    throw new SchemaFailure(400, msg`Cannot commit schema in the \`failed\` state. ${hint}`)
  }
  if (status === 'pending') {
    throw new SchemaFailure(400, msg`Cannot commit schema before it is in the \`ready\` state. ${hint}`)
  }
  const plan = stagedPlan(session)
  unstageSchema(session)
  applyPlan(plan, session)
}

/** Throws a SchemaFailure if no schema is staged. */
export function abandonStaged(session: Session): void {
  if (!isStaged(session)) throw new SchemaFailure(400, msg`There is no staged schema to abandon`)
  for (const { definition, ref } of collectionsOf(session)) updateOwnIndexes(ref, definition, session, [])
  unstageSchema(session)
}

interface StoredCollection {
  readonly ref: Ref
  readonly name: string
  readonly definition: ObjectValue
}

function collectionsOf(session: Session): readonly StoredCollection[] {
  return definitionsOf(session).flatMap(({ kind, name, ref }) => {
    const definition = kind === 'collection' ? session.transaction.get(ref)?.fields : undefined
    return definition === undefined ? [] : [{ definition, name, ref }]
  })
}

/** Existing collections with their staged definitions. */
function plannedCollections(session: Session): readonly StoredCollection[] {
  const existing = new Map(collectionsOf(session).map(({ name, ref }) => [name, ref]))
  return itemsIn(readSchemaFiles('staged', session)).flatMap(item => {
    const ref = item.kind === 'collection' ? existing.get(item.name.text) : undefined
    return ref === undefined ? [] : [{ ref, name: item.name.text, definition: definitionOf(item) }]
  })
}

interface StagedState {
  readonly status: StagedStatus
  /** The collections with indexes that are not built yet, and a line for each index; `''` if there are none. */
  readonly pendingSummary: string
}

/** Indexes of a staged schema are built in the background. */
export function stagedState(session: Session): StagedState {
  if (!isStaged(session)) return { status: 'none', pendingSummary: '' }
  const unready = plannedCollections(session).map(({ definition, name, ref }) => ({
    name,
    parts: unreadyParts(ref, definition, session),
  }))
  const parts = unready.flatMap(collection => collection.parts)
  const status = parts.some(({ hasFailed }) => hasFailed) ? 'failed' : parts.length > 0 ? 'pending' : 'ready'
  const summaries = unready.map(({ name, parts }) =>
    parts.length === 0 ? '' : `* Collection ${name}:\n${parts.map(partLine).join('')}`,
  )
  return { status, pendingSummary: summaries.join('') }
}

function partLine({ hasFailed, name, terms }: UnreadyPart): string {
  const what = name === undefined ? `unique constraint on ${printPaths(terms)}` : `index ${name}`
  return hasFailed ? `  ! ${what}: failed\n` : `  ~ ${what}: building\n`
}
