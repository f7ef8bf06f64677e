// A schema that is to come into force later. It consists of its files alone: what they define is not there yet, only the
// indexes that they call for are being built meanwhile. Each push is compared with the schema in force. Where definitions
// are to be read and written as they will be, a rehearsal of the transaction has the staged schema in force.

import { msg } from '../../../base/message.ts'
import { keepIndexes, type UnreadyPart, unreadyParts } from '../../../model/schema/collection-indexes.ts'
import {
  isStaged,
  readSchemaFiles,
  stageSchemaFiles,
  unstageSchema,
} from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import { definitionOf } from '../fsl/definition-of-item.ts'
import { type FileText, itemsIn } from '../fsl/patch.ts'
import { printedPath } from '../fsl/print.ts'
import { applyPlan } from './apply.ts'
import { currentFiles, keepFiles, storeFiles } from './current-files.ts'
import { definitionsOf } from './definitions.ts'
import { type Push, type PushPlan, planOf, resultOf } from './plan.ts'
import { SchemaFailure } from './schema-failure.ts'

/** How far a staged schema is: it may be committed when it is ready. */
type StagedStatus = 'none' | 'pending' | 'ready' | 'failed'

/** The files that a change of a staged schema begins with: its own, or those in force where there is none. */
export function stagedFiles(session: Session): readonly FileText[] {
  return isStaged(session) ? readSchemaFiles('staged', session) : keepFiles(session)
}

/** The plan that the staged files are for the schema in force. Throws a SchemaFailure where they do not fit it any more. */
export function stagedPlan(session: Session): PushPlan {
  return planOf({ files: readSchemaFiles('staged', session), isWhole: true }, session)
}

/**
 * A session of the same query in which the staged schema is in force; what it writes stays nowhere. Throws a SchemaFailure
 * where the staged schema does not fit what is there.
 */
export function stagedSession(session: Session): Session {
  return rehearsed(readSchemaFiles('staged', session), session)
}

function rehearsed(files: readonly FileText[], session: Session): Session {
  const rehearsal = session.over(session.transaction.rehearsal())
  if (isStaged(rehearsal)) unstageSchema(rehearsal)
  applyPlan(planOf({ files, isWhole: true }, rehearsal), rehearsal)
  session.countCostsOf(rehearsal)
  return rehearsal
}

/** Stages the files of a push. Throws a SchemaFailure with all that would refuse them now. */
export function stagePush(push: Push, session: Session): void {
  const files = resultOf(push, stagedFiles(session))
  const { after } = planOf({ files, isWhole: true }, session)
  rehearsed(files, session)
  stage(after, session)
}

/** Stages the schema that is in force in a rehearsal. */
export function stageRehearsal(rehearsal: Session, session: Session): void {
  stage(currentFiles(rehearsal), session)
}

function stage(files: readonly FileText[], session: Session): void {
  storeFiles(currentFiles(session), session)
  stageSchemaFiles(files, session)
  const planned = new Map(plannedCollections(session).map(({ definition, ref }) => [ref.id, definition]))
  for (const { definition, ref } of collectionsOf(session)) {
    keepIndexes(ref, definition, session, [], planned.get(ref.id))
  }
}

/** Brings the staged schema into force. Throws a SchemaFailure where there is none, or it is not ready. */
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

/** Forgets the staged schema. Throws a SchemaFailure where there is none. */
export function abandonStaged(session: Session): void {
  if (!isStaged(session)) throw new SchemaFailure(400, msg`There is no staged schema to abandon`)
  for (const { definition, ref } of collectionsOf(session)) keepIndexes(ref, definition, session, [])
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

/** The collections that are there, with the definitions that the staged schema has for them. */
function plannedCollections(session: Session): readonly StoredCollection[] {
  const there = new Map(collectionsOf(session).map(({ name, ref }) => [name, ref]))
  return itemsIn(readSchemaFiles('staged', session)).flatMap(item => {
    const ref = item.kind === 'collection' ? there.get(item.name.text) : undefined
    return ref === undefined ? [] : [{ ref, name: item.name.text, definition: definitionOf(item) }]
  })
}

/** What is known of a staged schema. */
interface StagedState {
  readonly status: StagedStatus
  /** A line for each index that is not there yet, under its collection; `''` when all are. */
  readonly pendingSummary: string
}

/** How far the staged schema is: its indexes are built from the documents that are there. */
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
  const paths = terms.map(({ multiValue, path }) =>
    multiValue ? `mva(${printedPath(path)})` : printedPath(path),
  )
  const what = name === undefined ? `unique constraint on [${paths.join(', ')}]` : `index ${name}`
  return hasFailed ? `  ! ${what}: failed\n` : `  ~ ${what}: building\n`
}
