// The data behind a query while a schema is staged: definitions are read and written as they will be, everything else is
// as it is, also what names and functions mean.

import type { Session } from '../../model/session.ts'
import type { Ref } from '../../values/value.ts'
import type { Absence, BoundCall, Call, Documents, EventSources, SetReader, World } from '../call.ts'
import { nativeOfItem } from '../fsl/definition-of-item.ts'
import { nativeNumber } from '../library/natives.ts'
import { StoredSet } from '../sets/stored-set.ts'
import type { Doc, Module, Struct, UserFunction, Value } from '../value.ts'
import { DataWorld } from '../world/data-world.ts'
import { SchemaFailure } from './schema-failure.ts'
import { stagedSession, stageRehearsal } from './staged-schema.ts'

const definitionKinds: ReadonlySet<number | undefined> = new Set(Object.values(nativeOfItem))

/** A session in which the staged schema is in force, and the data as it is there. */
interface Rehearsal {
  readonly session: Session
  readonly world: DataWorld
}

/** The world of one query while a schema is staged. */
export class StagedWorld implements World {
  readonly documents: Documents
  readonly sets: SetReader
  readonly #session: Session
  readonly #active: DataWorld
  #rehearsal: Rehearsal | SchemaFailure | undefined
  #hasWritten = false

  constructor(active: DataWorld, session: Session) {
    this.#active = active
    this.#session = session
    this.documents = this.#documents()
    this.sets = {
      requireIndex: (collection, call) => active.sets.requireIndex(collection, call),
      scan: (set, from, call) => {
        const isOfDefinitions = set instanceof StoredSet && isDefinition(set.options.collection)
        return (isOfDefinitions ? this.#worldFor(call) : active).sets.scan(set, from, call)
      },
    }
  }

  get cursorKey(): Uint8Array {
    return this.#active.cursorKey
  }

  get eventSources(): EventSources {
    return this.#active.eventSources
  }

  /** The query has been evaluated: what it has made of the schema is staged. Throws QueryFailures. */
  finish(): void {
    this.#active.finish()
    const rehearsal = this.#rehearsal
    if (!this.#hasWritten || rehearsal === undefined || rehearsal instanceof SchemaFailure) return
    rehearsal.world.finish()
    stageRehearsal(rehearsal.session, this.#session)
  }

  global(name: string): Module | UserFunction | undefined {
    return this.#active.global(name)
  }

  absence(doc: Doc, call: Call, asWhole?: boolean): Absence | undefined {
    return this.#worldOf(doc.ref, call).absence(doc, call, asWhole)
  }

  storedText(doc: Doc, tagged: boolean, call: Call): string | undefined {
    return this.#worldOf(doc.ref, call).storedText(doc, tagged, call)
  }

  fields(doc: Doc, call: Call): Struct {
    return this.#worldOf(doc.ref, call).fields(doc, call)
  }

  field(doc: Doc, name: string, call: Call): Value | undefined {
    return this.#worldOf(doc.ref, call).field(doc, name, call)
  }

  tellUncovered(doc: Doc, name: string, call: Call): void {
    this.#active.tellUncovered(doc, name, call)
  }

  collectionOf(ref: Ref): Module {
    return this.#active.collectionOf(ref)
  }

  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    return this.#active.callUser(callee, args, call)
  }

  #documents(): Documents {
    const active = this.#active.documents
    const write = <T>(isOfSchema: boolean, call: Call, work: (documents: Documents) => T): T => {
      if (!isOfSchema) return work(active)
      const { session, world } = this.#required(call)
      this.#hasWritten = true
      return session.withAuthority(this.#session.authority, () => work(world.documents))
    }
    const isOfSchema = (doc: Doc) => definitionKinds.has(doc.ref.collection)
    return {
      byId: (collection, id, call) => active.byId(collection, id, call),
      collection: (name, call) => active.collection(name, call),
      userFunction: (name, call) => active.userFunction(name, call),
      definitionOf: name => active.definitionOf(name),
      credentialOf: document => active.credentialOf(document),
      tokensOf: (document, call) => active.tokensOf(document, call),
      verify: (credential, password, call) => active.verify(credential, password, call),
      login: (credential, password, ttl, call) => active.login(credential, password, ttl, call),
      identity: () => active.identity(),
      token: () => active.token(),
      isProtected: call => active.isProtected(call),
      create: (collection, data, mode, call) =>
        write(isDefinition(collection), call, documents => documents.create(collection, data, mode, call)),
      change: (how, doc, data, mode, call) =>
        write(isOfSchema(doc), call, documents => documents.change(how, doc, data, mode, call)),
      remove: (doc, call) => write(isOfSchema(doc), call, documents => documents.remove(doc, call)),
      byName: (collection, name, call) =>
        (isDefinition(collection) ? this.#worldFor(call).documents : active).byName(collection, name),
    }
  }

  #worldOf({ collection }: Ref, call: Call): DataWorld {
    return definitionKinds.has(collection) ? this.#worldFor(call) : this.#active
  }

  /** Definitions as they will be; of the past, and where the staged schema does not fit any more, as they are. */
  #worldFor(call: Call): DataWorld {
    if (call.at !== undefined) return this.#active
    const rehearsal = this.#begun()
    return rehearsal instanceof SchemaFailure ? this.#active : rehearsal.world
  }

  #required(call: Call): Rehearsal {
    const rehearsal = this.#begun()
    if (rehearsal instanceof SchemaFailure) throw call.failure('invalid_schema', rehearsal.message)
    return rehearsal
  }

  #begun(): Rehearsal | SchemaFailure {
    if (this.#rehearsal !== undefined) return this.#rehearsal
    try {
      const session = stagedSession(this.#session)
      this.#rehearsal = { session, world: new DataWorld(session) }
    } catch (error) {
      if (!(error instanceof SchemaFailure)) throw error
      this.#rehearsal = error
    }
    return this.#rehearsal
  }
}

function isDefinition(collection: Module): boolean {
  return definitionKinds.has(nativeNumber(collection))
}
