// The data behind a query: what a session has, as the language sees it. Most queries are short and use little of it, so the
// parts are made when they are first asked for.

import type { Session } from '../../model/session.ts'
import { timeFromMicros } from '../../values/time.ts'
import { DocumentValue, Ref, type Value as StoredValue, sameRef } from '../../values/value.ts'
import type { Absence, BoundCall, Call, EventSources, SetReader, World } from '../call.ts'
import { Doc, type Module, type Struct, type UserFunction, type Value } from '../value.ts'
import { DocumentReader } from './documents-read.ts'
import { SessionEventSources } from './event-sources.ts'
import { FunctionCaller } from './functions.ts'
import { Names } from './names.ts'
import { sealingKey } from './sealing-keys.ts'
import { SessionDocuments } from './session-documents.ts'
import { StoredSetReader } from './stored-sets.ts'
import { runtimeOf } from './stored-values.ts'

/** The world of one query. */
export class DataWorld implements World {
  readonly documents: SessionDocuments
  readonly #session: Session
  readonly #names: Names
  readonly #reader: DocumentReader
  #sets: SetReader | undefined
  #eventSources: EventSources | undefined

  constructor(session: Session) {
    this.#session = session
    this.#names = new Names(session)
    this.#reader = new DocumentReader(session, this.#names)
    this.documents = new SessionDocuments(session, this.#names, this.#reader)
  }

  get sets(): SetReader {
    this.#sets ??= new StoredSetReader(this.#session, this.#reader)
    return this.#sets
  }

  get eventSources(): EventSources {
    this.#eventSources ??= new SessionEventSources(this.#session)
    return this.#eventSources
  }

  get cursorKey(): Uint8Array {
    return sealingKey(`cursors of ${this.#session.database}`, this.#session)
  }

  /** The query has been evaluated: what was written must hold together. Throws QueryFailures. */
  finish(): void {
    this.documents.finish()
  }

  /** Whether the query has written definitions that schema files tell. */
  get changesSchema(): boolean {
    return this.documents.changesSchema
  }

  global(name: string): Module | UserFunction | undefined {
    return this.#names.global(name)
  }

  absence(doc: Doc, call: Call, asWhole?: boolean): Absence | undefined {
    return this.#reader.absence(doc, call, asWhole)
  }

  /** A document as it is at the time that a call looks at, read once; undefined where it is not there, or may not be read. */
  seen(ref: Ref, call: Call): Doc | undefined {
    return this.#reader.seen(ref, call)
  }

  storedText(doc: Doc, tagged: boolean, call: Call): string | undefined {
    return this.#reader.storedText(doc, tagged, call)
  }

  fields(doc: Doc, call: Call): Struct {
    return this.#reader.fields(doc, call)
  }

  field(doc: Doc, name: string, call: Call): Value | undefined {
    return this.#reader.field(doc, name, call)
  }

  tellUncovered(doc: Doc, name: string, call: Call): void {
    this.#reader.tellUncovered(doc, name, call)
  }

  collectionOf(ref: Ref): Module {
    return this.#reader.collectionOf(ref)
  }

  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    return new FunctionCaller(this.#session, this.#reader).call(callee, args, call)
  }

  /** A stored value as one of a query; references in it are read at a time of their own. */
  runtime(stored: StoredValue, readAt?: number): Value {
    return runtimeOf(stored, ref => this.#reader.document(ref, readAt))
  }

  /** A document as a predicate is given it: what it was or would be, whatever is stored. */
  version(given: StoredValue): Value {
    const found = this.#session.foundEntry
    if (given instanceof Ref && found !== undefined && sameRef(given, found.document)) {
      return this.#reader.reference(given, undefined, { name: '', covered: found.covered })
    }
    if (!(given instanceof DocumentValue)) return this.runtime(given)
    const { fields, ref, ts } = given
    const { collection, name: before } = this.#reader.reference(ref)
    const time = typeof ts === 'number' ? timeFromMicros(ts) : ts
    const title = fields.get('name')
    const name = before !== undefined && typeof title === 'string' ? title : before
    return new Doc(ref, collection, { name, state: { ts: time, fields } })
  }
}
