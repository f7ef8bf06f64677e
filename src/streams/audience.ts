// Who may see the events of one transaction, asked of each viewer at the transaction's own time. What may not be
// seen is left out without a word.

import { watched } from '../base/effort.ts'
import { type Memo, Pending } from '../base/pending.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import { Session, type SessionHost, timedOut } from '../model/session.ts'
import type { StreamEvent, StreamSubject } from '../model/streaming.ts'
import type { Transaction } from '../store/contract.ts'
import { collectionOf, type Ref } from '../values/value.ts'
import type { Viewer } from './open-stream.ts'

interface AudienceOptions {
  readonly host: SessionHost
  /** The transaction as of the commit that the events tell of. */
  readonly transaction: Transaction
  readonly memo: Memo
  readonly deadline: number
  /** Whether predicates may wait for something; if not, those that have to count as no. */
  readonly mayWait: boolean
}

type Access = Session['access']

export class Audience {
  readonly #options: AudienceOptions
  readonly #accesses = new Map<Viewer, Access>()
  /** Sessions with a predicate that took too long: they count as false for the rest of the transaction. */
  readonly #tooSlow = new Set<Viewer>()

  constructor(options: AudienceOptions) {
    this.#options = options
  }

  /**
   * Whether a viewer may see an event of a subject; a predicate that takes too long or does too much says no. Throws Pending
   * when a predicate has to wait.
   */
  sees(viewer: Viewer, event: StreamEvent, subject: StreamSubject): boolean {
    if (this.#tooSlow.has(viewer)) return false
    const access = this.#accessOf(viewer)
    const { now } = this.#options.host
    const end = now() + limits.streamPredicateMs * 1000
    const check = () => {
      if (now() > end) throw timedOut()
    }
    try {
      return watched({ check, beforeLongCall: check }, () => maySee(event, subject, access))
    } catch (error) {
      if (error instanceof RequestError) {
        if (error.code === 'time out') this.#tooSlow.add(viewer)
        return false
      }
      if (error instanceof Pending && !this.#options.mayWait) return false
      throw error
    }
  }

  #accessOf(viewer: Viewer): Access {
    const known = this.#accesses.get(viewer)
    if (known) return known
    const { host, transaction, memo, deadline } = this.#options
    const { caller } = viewer.terms
    const { access } = new Session({
      host,
      transaction,
      caller,
      dialect: '4',
      memo,
      deadline,
      effectLimit: 'read',
      effectPlace: 'stream requests',
    })
    this.#accesses.set(viewer, access)
    return access
  }
}

function maySee(event: StreamEvent, subject: StreamSubject, access: Access): boolean {
  const { document } = event
  switch (subject.kind) {
    case 'document':
      return mayOnDocument(event.type === 'history_rewrite' ? 'history_read' : 'read', document, access)
    case 'documents': {
      const resource = subject.collection
      const all = access.allows({ action: 'unrestricted_read', resource, argument: () => null })
      return all || mayOnDocument('read', document, access)
    }
    case 'writes':
      // Its readers ask themselves.
      return false
    case 'match': {
      const request = { resource: subject.index, argument: () => subject.terms }
      if (access.allows({ ...request, action: 'unrestricted_read' })) return true
      return access.allows({ ...request, action: 'read' }) && mayOnDocument('read', document, access)
    }
  }
}

function mayOnDocument(action: 'read' | 'history_read', document: Ref, access: Access): boolean {
  return access.allows({ action, resource: collectionOf(document), document, argument: () => document })
}
