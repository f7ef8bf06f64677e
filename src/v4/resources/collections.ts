// User collections.

import { limits } from '../../limits.ts'
import type { Value } from '../../values/value.ts'
import { destructive, isProtected } from './databases.ts'
import { map, name, whole } from './fields.ts'
import { type Draft, type FieldCheck, failure, type Resource } from './resource.ts'

const historyDays: FieldCheck = (value, path) => {
  const wrong = whole(value, path)
  if (wrong.length > 0 || (value as bigint) >= 0n) return wrong
  return [failure(path, 'non-negative value required', 'Value must be non-negative.')]
}

export const collectionResource: Resource = {
  label: 'Collection',
  fields: {
    history_days: { check: historyDays },
    name: { check: name, required: true },
    ttl_days: { check: whole },
    data: { check: map },
  },
  defaults: () => new Map([['history_days', BigInt(limits.historyDaysDefault)]]),
  keptOnReplace: ['name', 'history_days', 'min_valid_time'],
  strictReferences: true,
  allowedInContainer: false,
  complete(draft) {
    if (draft.previous && isProtected(draft.ref.database, draft.call)) refuseLoss(draft)
  },
  beforeDelete(version, call) {
    if (isProtected(version.ref.database, call)) throw destructive('Cannot delete collection', call)
  },
}

/** In protected mode no change may make data disappear. Who adds a `ttl_days` reads that it cannot be removed (a quirk). */
function refuseLoss({ call, fields, previous }: Draft): void {
  const [historyBefore, history] = [previous?.fields.get('history_days'), fields.get('history_days')]
  const endsForever = historyBefore === undefined && history !== undefined
  if (isLess(history, historyBefore) || endsForever) {
    throw destructive('Cannot decrease `history_days` field', call)
  }
  if (historyBefore !== undefined && history === undefined) {
    throw destructive('Cannot remove `history_days` field', call)
  }
  const [ttlBefore, ttl] = [previous?.fields.get('ttl_days'), fields.get('ttl_days')]
  if (isLess(ttl, ttlBefore)) throw destructive('Cannot decrease `ttl_days` field', call)
  if (ttlBefore === undefined && ttl !== undefined) throw destructive('Cannot remove `ttl_days` field', call)
}

function isLess(value: Value | undefined, than: Value | undefined): boolean {
  return typeof value === 'bigint' && typeof than === 'bigint' && value < than
}
