// Parses requests to feeds and streams. The order of the checks is part of the protocol. A request may contain
// `start_ts` or `cursor`, but not both. An event source is opened with the current rights of the caller.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { nearestMicros } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { ownIndexes } from '../../model/schema/collection-indexes.ts'
import type { Session } from '../../model/session.ts'
import type { ChangeSource } from '../../model/source-changes.ts'
import { JsonSyntaxError, parseJson } from '../../values/json.ts'
import type { Json, Micros } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { lazy } from '../sets/lazy-set.ts'
import { RevivalError } from '../sets/reviver.ts'
import { looksSealed } from '../sets/saved-values.ts'
import { StoredSet } from '../sets/stored-set.ts'
import { Doc, type WatchedPath } from '../value.ts'
import { DataWorld } from '../world/data-world.ts'
import { collectionRef } from '../world/stored-sets.ts'
import { callOf, EventSnapshots } from './event-snapshots.ts'
import { checkCovered, checkSource, mayReadSource, type SourceStep, sourcePartsOf } from './event-source.ts'
import { type EventPlace, openToken, placeIn, type SourceToken, sourceIn, wholeTransaction } from './token.ts'

const eventRequestLimits = {
  /** Default number of events on a page of a feed. */
  feedPageDefault: 16,
  /** Maximum number of events on a page of a feed. */
  feedPageMax: 16_000,
} as const

/** A decoded event source whose set and rights were checked. `world` and `call` read the documents of its events. */
export interface OpenedSource {
  readonly source: ChangeSource
  readonly steps: readonly SourceStep[]
  readonly watched: readonly WatchedPath[] | undefined
  readonly world: DataWorld
  readonly call: Call
}

/** Returns the reason if the source cannot be used. `mayRead` decides about a source that is a document. */
function openSource(
  token: SourceToken,
  world: DataWorld,
  session: Session,
  mayRead: typeof mayReadSource,
): OpenedSource | string {
  if (token.database !== session.database) return 'it was created in another database.'
  const call = callOf(session, world)
  try {
    const opened = sourceIn(token, call)
    if (opened === undefined) throw new RevivalError()
    const set = lazy(opened.set)
    checkSource(set, 'eventSource', call, mayRead)
    const { base, steps } = sourcePartsOf(set)
    const { watched } = opened
    if (watched !== undefined && base instanceof StoredSet) checkCovered(base, watched, call)
    const source = base instanceof Doc ? documentSource(base, session) : storedSource(base, session)
    return { source, steps, watched, world, call }
  } catch (error) {
    if (error instanceof QueryFailure) return error.message
    if (error instanceof RevivalError) return 'its collection, its index or one of its functions was deleted.'
    throw error
  }
}

/**
 * Returns whether the caller may read the document now, or was able to at one of the times. A document that was deleted
 * or became unreadable has a last event, which the caller must get; the events themselves are filtered.
 */
function mayReadSince(document: Doc, times: readonly Micros[], call: Call, session: Session): boolean {
  if (mayReadSource(document, call)) return true
  const { ref } = document
  const minimumTime = session.transaction.minimumValidTime(ref.database, ref.collection)
  const snapshots = new EventSnapshots(session, call.evaluation.world as DataWorld, call)
  const isReadable = times.some(time => time >= minimumTime && snapshots.at(time).find(ref) !== undefined)
  snapshots.finish()
  return isReadable
}

function documentSource({ ref }: Doc, { transaction }: Session): ChangeSource {
  if (!transaction.catalogue.hasCollection(ref.database, ref.collection)) throw new RevivalError()
  return { kind: 'document', document: ref }
}

function storedSource({ options }: StoredSet, session: Session): ChangeSource {
  const collection = collectionRef(options.collection, session)
  if (options.index === undefined) return { kind: 'collection', collection }
  const index = ownIndexes(collection, session).get(options.index)?.stored
  if (index === undefined) throw new RevivalError()
  return { kind: 'index', collection, index, terms: options.terms }
}

/**
 * `page`: a page of an open stream, which the service itself requests. Some error messages end with a full stop for
 * feeds, but not for streams.
 */
type EventEndpoint = 'feed' | 'stream' | 'page'

export interface EventRequest {
  readonly token: string
  readonly startTime: Micros | undefined
  readonly cursor: EventPlace | undefined
  /** The page size. A request that opens a stream has the default. */
  readonly pageSize: number
}

/** `after`: the events start after this place. */
interface EventStart {
  readonly token: SourceToken
  readonly opened: OpenedSource
  readonly after: EventPlace
}

function invalidBody(detail: string): RequestError {
  return new RequestError('bad request', msg`Invalid request body: ${detail}`)
}

function sentence(endpoint: EventEndpoint, words: string): RequestError {
  return invalidBody(endpoint === 'feed' ? `${words}.` : words)
}

/** A request for a page of a stream has the form of a feed request. Throws `bad request`. */
export function readEventRequest(
  body: string | undefined,
  endpoint: Exclude<EventEndpoint, 'page'>,
): EventRequest {
  if (body === undefined || body === '') throw new RequestError('bad request', msg`No request body provided`)
  const json = parseBody(body)
  if (!(json instanceof Map)) throw unexpected(json)
  const token = textOf(json.get('token'))
  const startTime = integerOf(json.get('start_ts'))
  const text = textOf(json.get('cursor'))
  const size = endpoint === 'feed' ? integerOf(json.get('page_size')) : undefined
  if (token === undefined) throw invalidBody('Value for key token not found.')
  if (startTime !== undefined && text !== undefined) {
    throw sentence(endpoint, 'can not provide both `start_ts` and `cursor`')
  }
  if (!looksSealed(token, 'event source')) throw invalidToken(endpoint)
  const cursor = text === undefined ? undefined : placeIn(text)
  if (text !== undefined && cursor === undefined) {
    throw sentence(endpoint, 'invalid event cursor provided')
  }
  if (size !== undefined && size < 1) throw invalidBody('page size must be greater than zero.')
  if (size !== undefined && size > eventRequestLimits.feedPageMax) {
    throw invalidBody(`page size can not be greater than ${eventRequestLimits.feedPageMax}.`)
  }
  const from = startTime === undefined ? undefined : nearestMicros(startTime)
  return { token, startTime: from, cursor, pageSize: size ?? eventRequestLimits.feedPageDefault }
}

function invalidToken(endpoint: EventEndpoint): RequestError {
  return sentence(endpoint, 'invalid event source provided')
}

function parseBody(body: string): Json {
  const parsed = () => parseJson(body)
  return catchError(JsonSyntaxError, parsed, error => {
    throw invalidBody(error.message)
  })
}

function textOf(json: Json | undefined): string | undefined {
  if (json === undefined || typeof json === 'string') return json
  throw unexpected(json)
}

function integerOf(json: Json | undefined): number | undefined {
  if (json === undefined) return undefined
  if (typeof json !== 'bigint') throw unexpected(json)
  // A number outside of the safe integers becomes the nearest safe integer. No valid time or page size is that large.
  const bound = BigInt(Number.MAX_SAFE_INTEGER)
  return Number(json > bound ? bound : json < -bound ? -bound : json)
}

function unexpected(json: Json): RequestError {
  return invalidBody(
    `Unexpected ${kindOf(json)} value${typeof json === 'object' || typeof json === 'boolean' ? '' : ` ${shown(json)}`}.`,
  )
}

function kindOf(json: Json): string {
  if (json === null) return 'null'
  if (Array.isArray(json)) return 'array'
  switch (typeof json) {
    case 'string':
      return 'string'
    case 'bigint':
      return 'integer'
    case 'number':
      return 'float'
    case 'boolean':
      return String(json)
    default:
      return 'object'
  }
}

function shown(json: string | bigint | number): string {
  return typeof json === 'string' ? `'${json}'` : String(json)
}

/** Throws `bad request`. */
export function startOf(request: EventRequest, endpoint: EventEndpoint, session: Session): EventStart {
  const world = new DataWorld(session)
  const token = openToken(request.token, world.sealing.sourceKey)
  if (token === undefined) throw invalidToken(endpoint)
  const after = request.cursor ?? { time: request.startTime ?? token.start, ordinal: wholeTransaction }
  if (endpoint === 'stream' && after.time < token.start) {
    const message = msg`Stream start time can not be before the stream create time.`
    throw new RequestError('bad request', msg`Invalid stream start time: ${message}`)
  }
  const opened = openSource(
    token,
    world,
    session,
    (document, call) =>
      // The rights of an open stream were checked when it was opened.
      endpoint === 'page' || mayReadSince(document, [after.time, token.start], call, session),
  )
  if (typeof opened !== 'string') return { token, opened, after }
  const what = endpoint === 'stream' ? 'stream' : 'event source'
  throw new RequestError('bad request', msg`Error evaluating provided ${what}, ${opened}`)
}
