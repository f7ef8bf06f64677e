// The rules for user collections.

import { migrationField } from '../../storage/store/definitions.ts'
import { equalValues } from '../../values/equality.ts'
import type { Value } from '../../values/value.ts'
import { addedSteps } from '../schema/migration-steps.ts'
import { updateOwnIndexes } from '../schema/stored-indexes.ts'
import { destructive, isProtected } from './databases.ts'
import { map, name, whole } from './fields.ts'
import { renameResource } from './renaming.ts'
import {
  type Draft,
  type FieldCheck,
  type FieldSpec,
  failure,
  type Resource,
  type WriteRules,
} from './resource.ts'

const collectionsLimits = {
  /** Days of history of a collection that is created without `history_days`, if the language sets no other default. */
  historyDaysDefault: 30,
} as const

const historyDays: FieldCheck = (value, path) => {
  const wrong = whole(value, path)
  if (wrong.length > 0 || (value as bigint) >= 0n) return wrong
  return [failure(path, { kind: 'negative' })]
}

function defaultHistoryDays({
  historyDaysDefault = collectionsLimits.historyDaysDefault,
}: WriteRules): bigint {
  return BigInt(historyDaysDefault)
}

/** A field that only version 10 writes and checks. The code in this directory does not check the field. */
const schemaOnly: FieldSpec = { schemaOnly: true }

export const collectionResource: Resource = {
  fields: {
    history_days: { check: historyDays },
    name: { check: name, required: true },
    ttl_days: { check: whole },
    data: { check: map },
    alias: schemaOnly,
    document_ttls: schemaOnly,
    fields: schemaOnly,
    wildcard: schemaOnly,
    computed_fields: schemaOnly,
    indexes: schemaOnly,
    constraints: schemaOnly,
    migrations: schemaOnly,
  },
  defaults: (_, rules) => new Map([['history_days', defaultHistoryDays(rules)]]),
  preservedOnReplace: ['name', 'history_days', 'min_valid_time', migrationField],
  strictReferences: true,
  complete(draft) {
    const { fields, mode, patch, rules } = draft
    if (rules.historyDaysDefault !== undefined && mode === 'replace' && !patch.has('history_days')) {
      fields.set('history_days', defaultHistoryDays(rules))
    }
    if (draft.previous && isProtected(draft.ref.database, draft.session)) rejectLoss(draft)
  },
  written(draft) {
    const { fields, previous, ref, session } = draft
    renameResource(draft)
    const parts = ['computed_fields', 'constraints', 'indexes']
    const isChanged = parts.some(name => !isSame(fields.get(name), previous?.fields.get(name)))
    const steps = addedSteps(previous?.fields, fields)
    const beforeRemoval = () => {
      if (isProtected(ref.database, session)) throw destructive('delete index')
    }
    if (isChanged || steps?.length !== 0) updateOwnIndexes(ref, fields, session, steps, { beforeRemoval })
  },
  beforeDelete(version, session) {
    if (isProtected(version.ref.database, session)) throw destructive('delete collection')
  },
}

function isSame(value: Value | undefined, other: Value | undefined): boolean {
  return value === other || equalValues(value ?? null, other ?? null)
}

/**
 * Rejects changes that would remove data from a protected database. As in the hosted service, the error for adding
 * `ttl_days` says that `ttl_days` cannot be removed.
 */
function rejectLoss({ fields, previous }: Draft): void {
  const [historyBefore, history] = [previous?.fields.get('history_days'), fields.get('history_days')]
  const wasUnlimited = historyBefore === undefined && history !== undefined
  if (isLess(history, historyBefore) || wasUnlimited) throw destructive('decrease history_days')
  if (historyBefore !== undefined && history === undefined) throw destructive('remove history_days')
  const [ttlBefore, ttl] = [previous?.fields.get('ttl_days'), fields.get('ttl_days')]
  if (isLess(ttl, ttlBefore)) throw destructive('decrease ttl_days')
  if (ttlBefore === undefined && ttl !== undefined) throw destructive('remove ttl_days')
}

function isLess(value: Value | undefined, than: Value | undefined): boolean {
  return typeof value === 'bigint' && typeof than === 'bigint' && value < than
}
