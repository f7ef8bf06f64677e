// Who may see the events of one transaction, asked of each session at the transaction's own time. What may not be
// seen is left out without a word.

import { watched } from '../base/effort.ts'
import { type Memo, Pending } from '../base/pending.ts'
import type { StreamSubject } from '../engine/streaming.ts'
import { RequestError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Transaction } from '../store/contract.ts'
import { Evaluation, type EvaluationHost, timedOut } from '../v4/evaluation.ts'
import { collectionOf, type Micros, type Ref } from '../values/value.ts'
import type { StreamEvent } from './events.ts'
import type { Session } from './session.ts'

interface AudienceOptions {
  readonly host: EvaluationHost
  /** The transaction as of the commit that the events tell of. */
  readonly transaction: Transaction
  readonly memo: Memo
  readonly deadline: Micros
  /** Whether predicates may wait for something; if not, those that have to count as no. */
  readonly mayWait: boolean
}

type Access = Evaluation['access']

export class Audience {
  readonly #options: AudienceOptions
  readonly #accesses = new Map<Session, Access>()
  /** Sessions with a predicate that took too long: they count as false for the rest of the transaction. */
  readonly #tooSlow = new Set<Session>()

  constructor(options: AudienceOptions) {
    this.#options = options
  }

  /** Whether a session may see an event of a subject. Throws Pending when a predicate has to wait. */
  sees(session: Session, event: StreamEvent, subject: StreamSubject): boolean {
    const access = this.#accessOf(session)
    return this.#decide(session, () => maySee(event, subject, access))
  }

  #accessOf(session: Session): Access {
    const known = this.#accesses.get(session)
    if (known) return known
    const { host, transaction, memo, deadline } = this.#options
    const { caller } = session.terms
    const { access } = new Evaluation({
      host,
      transaction,
      caller,
      apiVersion: '4',
      memo,
      deadline,
      effectLimit: 'read',
      effectPlace: 'stream requests',
    })
    this.#accesses.set(session, access)
    return access
  }

  /** A predicate that takes too long or does too much says no. */
  #decide(session: Session, ask: () => boolean): boolean {
    if (this.#tooSlow.has(session)) return false
    const { now } = this.#options.host
    const end = now() + limits.streamPredicateMs * 1000
    const look = () => {
      if (now() > end) throw timedOut()
    }
    try {
      return watched({ look, beforeLongCall: look }, ask)
    } catch (error) {
      if (error instanceof RequestError) {
        if (error.code === 'time out') this.#tooSlow.add(session)
        return false
      }
      if (error instanceof Pending && !this.#options.mayWait) return false
      throw error
    }
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
