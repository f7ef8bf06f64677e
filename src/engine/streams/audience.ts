// Decides which viewers may see the events of one transaction, and formats the events. A viewer represents all streams
// with the same rights: access is checked once for each viewer, and an event is formatted once for each format. The
// rights at the commit decide about the event; the earlier state of a document needs a further right
// (`Audience.seesPast`). A stream gets no notice of an event that its viewer may not see.

import { withWatch } from '../../base/effort.ts'
import { type Memo, Pending } from '../../base/pending.ts'
import { RequestError } from '../../base/request-errors.ts'
import { upsert } from '../../base/upsert.ts'
import { mayOnDocument, mayRead } from '../../model/permissions.ts'
import { Session, type SessionHost, timeoutError } from '../../model/session.ts'
import type { StreamEvent, StreamFormat, StreamSubject } from '../../model/streaming.ts'
import type { Transaction } from '../../storage/store/store-contract.ts'
import type { Micros } from '../../values/value.ts'
import type { Subject, Viewer } from './open-stream.ts'

const audienceLimits = {
  /** Milliseconds after which a permission check of an event fails; own limit. */
  streamPredicateMs: 100,
} as const

interface AudienceOptions {
  readonly host: SessionHost
  /** Reads at the commit that caused the events. */
  readonly transaction: Transaction
  /** Reads directly before this commit. */
  readonly before: Transaction
  readonly memo: Memo
  readonly deadline: number
  /** If false, a predicate that has to wait denies access. */
  readonly mayWait: boolean
}

export class Audience {
  readonly #options: AudienceOptions
  readonly #sessions = new Map<Viewer, Session>()
  readonly #sessionsBefore = new Map<Viewer, Session>()
  /** Viewers with a predicate that took too long see no further events of the transaction. */
  readonly #tooSlow = new Set<Viewer>()

  constructor(options: AudienceOptions) {
    this.#options = options
  }

  /** Like {@link seesPast}, throws `Pending` if a predicate has to wait and `mayWait` is true. */
  sees(viewer: Viewer, event: StreamEvent, subject: StreamSubject): boolean {
    return this.#decide(viewer, () => maySee(event, subject, this.#session(viewer)))
  }

  /**
   * Decides about the state of the document before the event. The viewer needs one of three rights: `read` on the
   * document directly before the commit, `history_read` on the document, or `unrestricted_read` on the set.
   */
  seesPast(viewer: Viewer, { document }: StreamEvent, subject: StreamSubject): boolean {
    return this.#decide(viewer, () => {
      const session = this.#session(viewer)
      if (mayOnDocument('history_read', document, session) || isUnrestricted(subject, session)) return true
      const before = upsert(this.#sessionsBefore, viewer, () =>
        this.#sessionOver(this.#options.before, viewer),
      )
      return mayRead(document, before)
    })
  }

  /** False if a predicate takes too long, costs too much, or has to wait without `mayWait`. */
  #decide(viewer: Viewer, decision: () => boolean): boolean {
    if (this.#tooSlow.has(viewer)) return false
    const { now } = this.#options.host
    const end = now() + audienceLimits.streamPredicateMs * 1000
    const check = () => {
      if (now() > end) throw timeoutError()
    }
    try {
      return withWatch({ check, beforeLongCall: check }, decision)
    } catch (error) {
      if (error instanceof RequestError) {
        if (error.code === 'time out') this.#tooSlow.add(viewer)
        return false
      }
      if (error instanceof Pending && !this.#options.mayWait) return false
      throw error
    }
  }

  #session(viewer: Viewer): Session {
    return upsert(this.#sessions, viewer, () => this.#sessionOver(this.#options.transaction, viewer))
  }

  #sessionOver(transaction: Transaction, viewer: Viewer): Session {
    const { host, memo, deadline } = this.#options
    const { caller } = viewer.rights
    return new Session({
      host,
      transaction,
      caller,
      dialect: '4',
      memo,
      deadline,
      effectLimit: 'read',
      effectPlace: 'stream requests',
    })
  }
}

function maySee(event: StreamEvent, subject: StreamSubject, session: Session): boolean {
  const { document } = event
  switch (subject.kind) {
    case 'document':
      return mayOnDocument(event.type === 'history_rewrite' ? 'history_read' : 'read', document, session)
    case 'documents':
      return isUnrestricted(subject, session) || mayRead(document, session)
    case 'writes':
      // A subject of this kind has only paged streams, whose queries check the rights for each page.
      return false
    case 'match': {
      if (isUnrestricted(subject, session)) return true
      const { index: resource, terms } = subject
      const mayReadIndex = session.access.allows({ action: 'read', resource, argument: () => terms })
      return mayReadIndex && mayRead(document, session)
    }
  }
}

/** The viewer may see all elements of the set, even without rights on the documents. */
function isUnrestricted(subject: StreamSubject, { access }: Session): boolean {
  const action = 'unrestricted_read'
  switch (subject.kind) {
    case 'document':
    case 'writes':
      return false
    case 'documents':
      return access.allows({ action, resource: subject.collection, argument: () => null })
    case 'match':
      return access.allows({ action, resource: subject.index, argument: () => subject.terms })
  }
}

/** A run over the events of a transaction, which may be interrupted and repeated. */
interface FormattingRun {
  readonly audience: Audience
  readonly transaction: Transaction
  /** Called before each access decision and each rendering. Throws to interrupt the run. */
  readonly beforeStep: () => void
}

/**
 * Formats the events of one transaction about one subject. Streams share the decisions of their viewer and the rendered
 * bytes of their format. After an interruption, the next run continues with the results in this object.
 */
export class EventFormatter {
  readonly #subject: Subject
  readonly #events: readonly StreamEvent[]
  readonly #txn: Micros
  /** Decisions for each viewer whether it may see an event, in the order of the events so far. */
  readonly #decided = new Map<Viewer, boolean[]>()
  /** Decisions for each viewer whether it may see the state of the document before an event. */
  readonly #decidedOfPast = new Map<Viewer, Map<StreamEvent, boolean>>()
  readonly #rendered = new Map<StreamFormat, Map<StreamEvent, Uint8Array>>()
  readonly #formatted = new Map<Viewer, Map<StreamFormat, readonly Uint8Array[]>>()

  /** `txn`: the time of the transaction. */
  constructor(subject: Subject, events: readonly StreamEvent[], txn: Micros) {
    this.#subject = subject
    this.#events = events
    this.#txn = txn
  }

  /**
   * Returns the events for the streams with this viewer and format. Throws `Pending` if a predicate has to wait, and
   * the errors of `beforeStep`.
   */
  of(viewer: Viewer, format: StreamFormat, run: FormattingRun): readonly Uint8Array[] {
    const ofViewer = upsert(this.#formatted, viewer, () => new Map<StreamFormat, readonly Uint8Array[]>())
    return upsert(ofViewer, format, () => {
      const decided = this.#decide(viewer, run)
      const visible = this.#events.filter((_, index) => decided[index])
      const shown = visible.map(event => this.#shown(event, viewer, format, run))
      return shown.map(event => this.#render(event, format, run))
    })
  }

  #decide(viewer: Viewer, { audience, beforeStep }: FormattingRun): readonly boolean[] {
    const decided = upsert(this.#decided, viewer, () => [])
    for (const event of this.#events.slice(decided.length)) {
      beforeStep()
      decided.push(audience.sees(viewer, event, this.#subject.target))
    }
    return decided
  }

  /** Leaves out the earlier state of the document if the viewer may not see it. */
  #shown(event: StreamEvent, viewer: Viewer, { fields }: StreamFormat, run: FormattingRun): StreamEvent {
    const { past } = event
    if (past === undefined || !past.fields.some(field => fields.includes(field))) return event
    const decided = upsert(this.#decidedOfPast, viewer, () => new Map<StreamEvent, boolean>())
    const isSeen = upsert(decided, event, () => {
      run.beforeStep()
      return run.audience.seesPast(viewer, event, this.#subject.target)
    })
    return isSeen ? event : past.redacted
  }

  #render(event: StreamEvent, format: StreamFormat, { beforeStep, transaction }: FormattingRun): Uint8Array {
    const ofFormat = upsert(this.#rendered, format, () => new Map<StreamEvent, Uint8Array>())
    return upsert(ofFormat, event, () => {
      beforeStep()
      return Buffer.from(format.event(event, this.#txn, transaction))
    })
  }
}
