// Opens event sources with the current rights of the caller.

import { ownIndexes } from '../../model/schema/collection-indexes.ts'
import type { Session } from '../../model/session.ts'
import type { ChangeSource } from '../../model/source-changes.ts'
import type { Call } from '../call.ts'
import { QueryFailure } from '../failure/query-failure.ts'
import { lazy } from '../sets/lazy-set.ts'
import { RevivalError } from '../sets/reviver.ts'
import type { StoredSet } from '../sets/stored-set.ts'
import { Doc, type WatchedPath } from '../value.ts'
import type { DataWorld } from '../world/data-world.ts'
import { collectionRef } from '../world/stored-sets.ts'
import { checkSource, type SourceStep, sourcePartsOf } from './event-source.ts'
import { callOf } from './moments.ts'
import { type OpenedToken, sourceIn } from './token.ts'

/** A source that is ready to be read. */
export interface OpenedSource {
  readonly source: ChangeSource
  readonly steps: readonly SourceStep[]
  readonly watched: readonly WatchedPath[] | undefined
  /** The session's data, and the call that opened the source. */
  readonly world: DataWorld
  readonly call: Call
}

/** The reason why the source cannot be used. */
export class UnusableSource {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

/** Opens the source of a token. Throws {@link UnusableSource}. */
export function openSource(token: OpenedToken, world: DataWorld, session: Session): OpenedSource {
  if (token.database !== session.database) throw new UnusableSource('it was created in another database.')
  const call = callOf(session, world)
  try {
    const made = sourceIn(token, call)
    if (made === undefined) throw new RevivalError()
    const set = lazy(made.set)
    checkSource(set, 'eventSource', call)
    const { base, steps } = sourcePartsOf(set)
    const source = base instanceof Doc ? documentSource(base, session) : storedSource(base, session)
    const { watched } = made
    return { source, steps, watched, world, call }
  } catch (error) {
    if (error instanceof QueryFailure) throw new UnusableSource(error.message)
    if (error instanceof RevivalError)
      throw new UnusableSource('its collection, its index or one of its functions was deleted.')
    throw error
  }
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
