// What event sources ask of the data: who may make one, and what indexes hold.

import { ownIndexes } from '../../model/schema/collection-indexes.ts'
import type { Session } from '../../model/session.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import type { EventSources } from '../call.ts'
import type { Module, WatchedPath } from '../value.ts'
import { sealingKey } from './sealing-keys.ts'
import { collectionRef } from './stored-sets.ts'

/** Those of one query. A class: an object that is written with a getter is of a shape of its own, each time it is made. */
export class SessionEventSources implements EventSources {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  get database(): DatabaseId {
    return this.#session.database
  }

  get key(): Uint8Array {
    return sealingKey('event sources', this.#session)
  }

  mayReadSome(collection: Module): boolean {
    return this.#session.access.mentions('read', collectionRef(collection, this.#session))
  }

  pathsOf(collection: Module, index: string): readonly WatchedPath[] {
    const found = ownIndexes(collectionRef(collection, this.#session), this.#session).get(index)
    return found === undefined ? [] : [...found.terms, ...found.values].map(({ path }) => path)
  }

  resultTime(): Micros {
    return this.#session.transaction.resultTime()
  }
}
