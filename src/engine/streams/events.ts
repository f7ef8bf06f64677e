// Converts a committed change of a document to events. A {@link Change} contains only the document, the action and the
// time; contents come from the versions of the document, which the store retains long enough for the streams.

import { changesBetween } from '../../model/sets/history.ts'
import type { StreamEvent, StreamField } from '../../model/streaming.ts'
import type { Change, Transaction, Version } from '../../storage/store/store-contract.ts'
import {
  type ActionName,
  DocumentValue,
  type Micros,
  type ObjectValue,
  type Ref,
  type Value,
} from '../../values/value.ts'

/** The version that a change has written, between the previous and the next version of its document. */
interface VersionNeighbours {
  /** The version at the valid time of the change, if there is such a version. */
  readonly version: Version | undefined
  readonly previous: Version | undefined
  readonly next: Version | undefined
}

const noFields: ObjectValue = new Map()

/**
 * Finds the version that a change has written, and the previous and the next version of the document. Ignores versions
 * later than `txn`, the time of the transaction that made the change.
 */
export function neighboursOf(
  { ref, validTime }: Change,
  txn: Micros,
  transaction: Transaction,
): VersionNeighbours {
  const next = nextVersion(ref, validTime, txn, transaction)
  let found: Version | undefined
  for (const version of transaction.versions(ref, { reverse: true, notAfter: validTime })) {
    const ts = version.ts as Micros
    // If the change is older than the retained history, the history begins with a later version.
    if (ts > validTime) continue
    if (ts < validTime) return { version: found, previous: version, next }
    found = version
  }
  return { version: found, previous: undefined, next }
}

/** The first version after the time `after` and up to the time `last`. */
function nextVersion(ref: Ref, after: Micros, last: Micros, transaction: Transaction): Version | undefined {
  if (after >= last) return undefined
  for (const version of transaction.versions(ref, { notBefore: after })) {
    const ts = version.ts as Micros
    if (ts > after) return ts > last ? undefined : version
  }
  return undefined
}

/** Returns the events for the streams that follow the changed document. */
export function documentEvents(change: Change, neighbours: VersionNeighbours): readonly StreamEvent[] {
  switch (change.kind) {
    case 'write':
      return writeEvents(neighbours)
    case 'history insert': {
      const inserted = neighbours.version
        ? contentEvent('history_rewrite', neighbours.version, neighbours.previous)
        : removalEvent(change)
      return [...followingEvents(neighbours, neighbours.version), inserted]
    }
    case 'history remove':
      return [removalEvent(change), ...followingEvents(neighbours, neighbours.version ?? neighbours.previous)]
  }
}

/** A document that one transaction creates and deletes causes no event, because no other transaction can see it. */
function writeEvents({ version, previous }: VersionNeighbours): readonly StreamEvent[] {
  if (version === undefined) return []
  if (version.action !== 'delete') return [contentEvent('version', version, previous)]
  if (previous === undefined || previous.action === 'delete') return []
  const { ref } = version
  const deleted = new DocumentValue(ref, previous.ts, previous.fields)
  const emptied = withoutFields(ref, version.ts as Micros)
  const shown = event('version', 'delete', ref, { document: deleted, diff: emptied, prev: deleted })
  const redacted = event('version', 'delete', ref, { document: emptied })
  return [{ ...shown, past: { fields: ['document', 'diff', 'prev'], redacted } }]
}

/**
 * The insertion or removal of a version changes the action and the difference of the following version, because both
 * depend on the previous one.
 */
function followingEvents({ next }: VersionNeighbours, previous: Version | undefined): readonly StreamEvent[] {
  return next === undefined ? [] : [contentEvent('history_rewrite', next, previous)]
}

/** Returns an event with the content of a version, the difference to the previous version, and the previous version. */
function contentEvent(
  type: StreamEvent['type'],
  version: Version,
  previous: Version | undefined,
): StreamEvent {
  const { ref, action, fields } = version
  const ts = version.ts as Micros
  const document = new DocumentValue(ref, ts, fields)
  if (action !== 'update' || previous === undefined) {
    return event(type, action, ref, { document, diff: document, prev: withoutFields(ref, ts) })
  }
  const shown = event(type, action, ref, {
    document,
    diff: new DocumentValue(ref, ts, changesBetween(previous.fields, fields)),
    prev: new DocumentValue(ref, previous.ts, previous.fields),
  })
  return { ...shown, past: { fields: ['diff', 'prev'], redacted: event(type, action, ref, { document }) } }
}

/** Returns the event for a version that was removed. */
function removalEvent({ ref, validTime, action }: Change): StreamEvent {
  const document = withoutFields(ref, validTime)
  return event('history_rewrite', action, ref, { document, diff: document, prev: document })
}

function withoutFields(ref: Ref, ts: Micros): DocumentValue {
  return new DocumentValue(ref, ts, noFields)
}

function event(
  type: StreamEvent['type'],
  action: ActionName,
  document: Ref,
  members: Readonly<Partial<Record<'document' | 'diff' | 'prev', Value>>>,
): StreamEvent {
  const member = (field: StreamField) => {
    if (field === 'action') return action
    return field === 'index' ? undefined : members[field]
  }
  return { type, document, member }
}

/**
 * Returns the event for a document that enters or leaves a set. `index`: describes the index entry of the document,
 * with values from before the change if the document leaves the set.
 */
export function setEvent(
  action: 'add' | 'remove',
  document: Ref,
  ts: Micros,
  index: ObjectValue,
): StreamEvent {
  const member = (field: StreamField) => {
    if (field === 'action') return action
    return field === 'document' ? withoutFields(document, ts) : undefined
  }
  const redacted = { type: 'set', document, member } as const
  const shown = { ...redacted, member: (field: StreamField) => (field === 'index' ? index : member(field)) }
  return action === 'add' ? shown : { ...shown, past: { fields: ['index'], redacted } }
}

/** The newest versions before and after a change; undefined while the document does not exist. */
export interface StateChange {
  readonly before: Version | undefined
  readonly after: Version | undefined
}

/**
 * Returns the effect of a change on the current state of its document. Returns undefined if the change affects only
 * earlier versions, or removes a version: the effect of a version that no longer exists is unknown.
 */
export function stateChange(
  { kind }: Change,
  { version, previous, next }: VersionNeighbours,
): StateChange | undefined {
  if (version === undefined || next !== undefined || kind === 'history remove') return undefined
  const before = version.action === 'create' || previous?.action === 'delete' ? undefined : previous
  return { before, after: version.action === 'delete' ? undefined : version }
}
