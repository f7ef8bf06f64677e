// What event sources ask of the data: who may make one, and what indexes hold.

import { createHmac } from 'node:crypto'
import { ownIndexes } from '../../model/schema/collection-indexes.ts'
import type { Session } from '../../model/session.ts'
import type { EventSources } from '../call.ts'
import { collectionRef } from './stored-sets.ts'

/** Of one query. */
export function eventSourcesOf(session: Session): EventSources {
  return {
    database: session.database,
    get key() {
      const { host, memo, transaction } = session
      const key = transaction.secretKey(() => host.logins.newKey(memo))
      return createHmac('sha256', key).update('event sources').digest()
    },
    mayReadSome: collection => session.access.mentions('read', collectionRef(collection, session)),
    pathsOf: (collection, index) => {
      const found = ownIndexes(collectionRef(collection, session), session).get(index)
      return found === undefined ? [] : [...found.terms, ...found.values].map(({ path }) => path)
    },
    resultTime: () => session.transaction.resultTime(),
  }
}
