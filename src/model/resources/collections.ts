// User collections.

import { limits } from '../../limits.ts'
import type { Value } from '../../values/value.ts'
import { destructive, isProtected } from './databases.ts'
import { map, name, whole } from './fields.ts'
import { type Draft, type FieldCheck, failure, type Resource } from './resource.ts'

const historyDays: FieldCheck = (value, path) => {
  const wrong = whole(value, path)
  if (wrong.length > 0 || (value as bigint) >= 0n) return wrong
  return [failure(path, { kind: 'negative' })]
}

export const collectionResource: Resource = {
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
    if (draft.previous && isProtected(draft.ref.database, draft.session)) refuseLoss(draft)
  },
  beforeDelete(version, session) {
    if (isProtected(version.ref.database, session)) throw destructive('delete collection')
  },
}

/** In protected mode no change may make data disappear. Who adds a `ttl_days` reads that it cannot be removed (a quirk). */
function refuseLoss({ fields, previous }: Draft): void {
  const [historyBefore, history] = [previous?.fields.get('history_days'), fields.get('history_days')]
  const endsForever = historyBefore === undefined && history !== undefined
  if (isLess(history, historyBefore) || endsForever) {
    throw destructive('decrease history_days')
  }
  if (historyBefore !== undefined && history === undefined) {
    throw destructive('remove history_days')
  }
  const [ttlBefore, ttl] = [previous?.fields.get('ttl_days'), fields.get('ttl_days')]
  if (isLess(ttl, ttlBefore)) throw destructive('decrease ttl_days')
  if (ttlBefore === undefined && ttl !== undefined) throw destructive('remove ttl_days')
}

function isLess(value: Value | undefined, than: Value | undefined): boolean {
  return typeof value === 'bigint' && typeof than === 'bigint' && value < than
}
