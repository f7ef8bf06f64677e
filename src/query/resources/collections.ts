// User collections.

import { QueryError } from '../../errors.ts'
import { limits } from '../../limits.ts'
import type { Value } from '../../values/value.ts'
import { native } from '../../values/value.ts'
import { isProtected } from './databases.ts'
import { map, name, whole } from './fields.ts'
import { sourceCollectionsOf } from './index-source.ts'
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
    if (!isProtected(version.ref.database, call)) return
    const onlySource = [
      ...call.evaluation.transaction.documents(version.ref.database, native.indexes, {}),
    ].some(({ document }) => {
      const index = call.evaluation.transaction.get(document)
      const sources = index && sourceCollectionsOf(index.fields.get('source'))
      return sources?.length === 1 && sources[0] === version.ref.id
    })
    const what = onlySource ? 'Cannot cause deletion of backing index' : 'Cannot delete collection'
    throw call.error('schema validation failed', `${what}: ${protectedMode}`)
  },
}

export const protectedMode = 'destructive change forbidden because database is in protected mode.'

/** In protected mode no change may make data disappear. */
function refuseLoss({ call, fields, previous }: Draft): void {
  const refuse = (change: string): QueryError =>
    QueryError.of('schema validation failed', `${change}: ${protectedMode}`, call.position())
  const [historyBefore, history] = [previous?.fields.get('history_days'), fields.get('history_days')]
  if (isLess(history, historyBefore)) throw refuse('Cannot decrease `history_days` field')
  if (historyBefore === undefined && history !== undefined) throw refuse('Cannot remove `history_days` field')
  const [ttlBefore, ttl] = [previous?.fields.get('ttl_days'), fields.get('ttl_days')]
  if (isLess(ttl, ttlBefore)) throw refuse('Cannot decrease `ttl_days` field')
  if (ttlBefore === undefined && ttl !== undefined) throw refuse('Cannot remove `ttl_days` field')
}

function isLess(value: Value | undefined, than: Value | undefined): boolean {
  return typeof value === 'bigint' && typeof than === 'bigint' && value < than
}
