// Open streams, and the reasons why they end. The subject of a stream is the document or set that it follows; the
// viewer represents its caller. A stream queues events, because its client may read slowly. It never skips an event, so
// a stream with a full queue ends.

import { endOfTime, epoch, nearestMicros } from '../../base/micros.ts'
import type { Caller } from '../../model/auth/access-contract.ts'
import type { Session } from '../../model/session.ts'
import type { StreamEnd, StreamFormat, StreamSubject, StreamWording } from '../../model/streaming.ts'
import type { Transaction, Version } from '../../storage/store/store-contract.ts'
import { revocationRef } from '../../storage/store/token-revocation.ts'
import { microsOfTime } from '../../values/time.ts'
import {
  type DatabaseId,
  isNativeCollectionRef,
  type Micros,
  native,
  Ref,
  Time,
  type Value,
} from '../../values/value.ts'
import { fullKeyOf } from '../../values/value-keys.ts'
import type { EventStream } from '../engine-contract.ts'

const openStreamLimits = {
  /** Maximum number of events in the queue of one stream. The last queued transaction may exceed this limit. */
  streamEventsMax: 4096,
  /** Maximum number of bytes in the queue of one stream; own limit. The last queued transaction may exceed it. */
  streamBytesMax: 8_388_608,
} as const

/** A document whose change ends the streams of a viewer or of a subject. */
export interface Condition {
  readonly document: Ref
  /** False: an update ends the streams, too. */
  readonly onDeleteOnly: boolean
}

/** Rights of a viewer, and when they end. */
interface ViewerRights {
  /** Differs for callers with different rights. */
  readonly key: string
  readonly caller: Caller
  /**
   * Time of the newest commit when the viewer was created. Its rights include the effects of all commits up to this
   * one.
   */
  readonly since: Micros
  readonly conditions: readonly Condition[]
}

export function viewerRights({ caller, transaction }: Session): ViewerRights {
  const { authority, credential, identity } = caller
  const document = credential instanceof Ref ? transaction.get(credential) : undefined
  const roles = authority.kind === 'roles' ? authority.roles : []
  const revisions = [...roles.map(role => transaction.get(role)), document].map(revisionOf)
  const grants: readonly Value[] =
    authority.kind === 'roles'
      ? [...roles, authority.identity ?? null]
      : [authority.kind === 'builtin' ? authority.role : authority.kind]
  const parts = [caller.database, authority.database, grants, identity ?? null, credential ?? null, revisions]
  const isToken = credential instanceof Ref && credential.collection === native.tokens
  const changing = credential instanceof Ref ? [credential, ...roles] : roles
  return {
    key: fullKeyOf(parts),
    caller,
    since: transaction.lastCommitTime,
    conditions: [
      ...changing.map(ref => ({ document: ref, onDeleteOnly: false })),
      ...(identity instanceof Ref ? [{ document: identity, onDeleteOnly: true }] : []),
      ...(isToken && identity instanceof Ref
        ? [{ document: revocationRef(identity), onDeleteOnly: false }]
        : []),
      ...existenceConditions(caller.database, transaction),
    ],
  }
}

function revisionOf(version: Version | undefined): Value {
  return typeof version?.ts === 'number' ? BigInt(version.ts) : null
}

/** First expiry of the caller's credential, identity and roles; {@link endOfTime} for never. */
export function expiryOf({ authority, credential, identity }: Caller, transaction: Transaction): Micros {
  const roles = authority.kind === 'roles' ? authority.roles : []
  const documents = [credential, identity, ...roles].filter(each => each instanceof Ref)
  const seconds = credential instanceof Map ? credential.get('exp') : undefined
  const isTime = typeof seconds === 'bigint' || typeof seconds === 'number'
  return Math.min(
    isTime ? nearestMicros(Number(seconds) * 1e6) : endOfTime,
    ...documents.map(document => expiryOfDocument(document, transaction)),
  )
}

function expiryOfDocument(document: Ref, transaction: Transaction): Micros {
  const version = transaction.get(document)
  // The rights end with a deleted document.
  if (version === undefined) return transaction.snapshotTime
  const ttl = version.fields.get('ttl')
  return ttl instanceof Time ? nearestMicros(Number(microsOfTime(ttl))) : endOfTime
}

/** Streams end when the database or one of its ancestors is deleted. */
function existenceConditions(database: DatabaseId, { catalogue }: Transaction): readonly Condition[] {
  return catalogue.lineage(database).map(({ ref }) => ({ document: ref, onDeleteOnly: true }))
}

/**
 * Returns the conditions for events from the collection or index `source`: the streams end when `source`, its database
 * or an ancestor of the database is deleted. Native collections are never deleted.
 */
export function sourceConditions(source: Ref, transaction: Transaction): readonly Condition[] {
  const common = existenceConditions(source.database, transaction)
  return isNativeCollectionRef(source) ? common : [{ document: source, onDeleteOnly: true }, ...common]
}

/** Reads the events of a subject with queries. */
export interface Reader {
  /** Called when the subject may have changed. */
  wake(): void
  /** Called when the subject will have no more events. */
  close(): void
}

/** A document or a set that at least one stream follows. */
export class Subject {
  readonly target: StreamSubject
  readonly streams = new Set<OpenStream>()
  /** Readers of the paged streams that follow this subject. */
  readonly readers = new Set<Reader>()
  /** Unique among the subjects of the same kind; for a set of an index, only among the sets of this index. */
  readonly key: string

  get isIdle(): boolean {
    return this.streams.size === 0 && this.readers.size === 0
  }

  constructor(target: StreamSubject, key: string) {
    this.target = target
    this.key = key
  }
}

/**
 * Represents the callers of all streams that were opened with the same rights, for which access is decided once. All
 * its streams end when it loses its rights: when its key or token changes, when all tokens of its identity are revoked,
 * when one of its roles changes, when its credential, identity or a role expires, or when its identity, its database or
 * an ancestor of the database is deleted.
 */
export class Viewer {
  readonly rights: ViewerRights
  readonly streams = new Set<OpenStream>()
  /** See {@link expiryOf}. Changes when the `ttl` of the identity changes. */
  expires: Micros = endOfTime

  constructor(rights: ViewerRights) {
    this.rights = rights
  }
}

interface StreamOrigin {
  readonly subject: Subject
  readonly viewer: Viewer
  readonly wording: StreamWording
  /** Undefined for paged streams, whose events are already text. */
  readonly format?: StreamFormat
  /**
   * For a paged stream, the time of the place where it begins. For other streams, the time of the newest commit in the
   * snapshot on which the stream was opened: the stream gets the events of all later commits. The time of the snapshot
   * would be wrong, because a running commit may have an earlier time than the snapshot.
   */
  readonly start: Micros
}

export class OpenStream implements EventStream {
  readonly id: string
  readonly origin: StreamOrigin
  readonly #release: (stream: OpenStream) => void
  #queue: Uint8Array[] = []
  #bytes = 0
  #ended = false
  #listener: (() => void) | undefined

  /** `release`: called once, after the stream has ended or its client has disconnected. */
  constructor(id: string, origin: StreamOrigin, release: (stream: OpenStream) => void) {
    this.id = id
    this.origin = origin
    this.#release = release
    this.#append(Buffer.from(origin.wording.start(origin.start)))
  }

  get ended(): boolean {
    return this.#ended
  }

  take(): Uint8Array | undefined {
    const line = this.#queue.shift()
    this.#bytes -= line?.length ?? 0
    return line
  }

  listen(listener: () => void): void {
    this.#listener = listener
  }

  close(): void {
    this.#queue = []
    this.#listener = undefined
    this.#finish()
  }

  /** Queues the events of one transaction or page. Returns their number of bytes. */
  deliver(lines: readonly Uint8Array[]): number {
    const bytes = lines.reduce((sum, line) => sum + line.length, 0)
    if (this.#ended) return bytes
    const waiting = this.#queue.length
    if (waiting >= openStreamLimits.streamEventsMax || this.#bytes >= openStreamLimits.streamBytesMax) {
      this.#queue = []
      const description = `Stream closed due to congestion after accumulating ${waiting} items.`
      this.end({ cause: 'not read', code: 'time out', description, txn: epoch })
      return bytes
    }
    for (const line of lines) this.#append(line)
    this.#listener?.()
    return bytes
  }

  /** Ends the stream with an event about the reason, after the queued events. */
  end(reason: StreamEnd): void {
    if (this.#ended) return
    this.#append(Buffer.from(this.origin.wording.end(reason)))
    this.#finish()
    this.#listener?.()
  }

  /** Ends the stream without a further event. The client still gets the queued events. */
  complete(): void {
    this.#finish()
    this.#listener?.()
  }

  #append(line: Uint8Array): void {
    if (line.length === 0) return
    this.#queue.push(line)
    this.#bytes += line.length
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    this.#release(this)
  }
}

/** Returns a stream that has already ended. Its only event contains the reason. */
export function rejectedStream(id: string, wording: StreamWording, reason: StreamEnd): EventStream {
  const events = [Buffer.from(wording.end(reason))]
  return { id, ended: true, take: () => events.pop(), listen: () => undefined, close: () => undefined }
}

/**
 * A transaction has removed the rights of the viewer, or its credential has expired, at `txn`. Streams of version 4 use
 * `code` and `description`, those of version 10 `cause`.
 */
export const rightsLost = (txn: Micros): StreamEnd => ({
  cause: 'rights lost',
  code: 'permission denied',
  description: 'Authorization lost during stream evaluation.',
  txn,
})

const sourceGone = (description: string): StreamEnd => ({
  cause: 'source gone',
  code: 'time out',
  description,
  txn: epoch,
})

/** Ends that do not depend on the time of a transaction. */
export const streamEnds = {
  sourceClosed: sourceGone('Stream was unexpectedly closed by its source.'),
  alreadyClosed: sourceGone('Subscribing to an already closed stream.'),
  tooMany: {
    cause: 'too many streams',
    code: 'too many requests',
    description: 'Too many open streams.',
    txn: epoch,
  },
  replayTooLong: {
    cause: 'replay too long',
    code: 'too many requests',
    description: 'There are too many events to catch up on.',
    txn: epoch,
  },
  failed: {
    cause: 'failed',
    code: 'internal server error',
    description: 'The service met an internal error.',
    txn: epoch,
  },
} as const satisfies Readonly<Record<string, StreamEnd>>
