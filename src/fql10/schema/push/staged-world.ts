// The world (data access) of a query while a schema is staged: stored, but not active yet. The query reads and writes
// definitions in their staged form. All names and function calls in the query use the active schema.

import { catchError } from '../../../base/catch-error.ts'
import { msg } from '../../../base/message.ts'
import type { Session } from '../../../model/session.ts'
import type {
  AccessReader,
  BoundCall,
  Call,
  DocumentAccess,
  NameReader,
  SetReader,
  TokenSealing,
  World,
  Writer,
} from '../../call.ts'
import { nativeNumber } from '../../library/natives.ts'
import { StoredSet } from '../../sets/stored-set.ts'
import type { Doc, Module, UserFunction, Value } from '../../value.ts'
import { DataWorld } from '../../world/data-world.ts'
import { isSchemaNative } from '../fsl/definition-of-item.ts'
import { SchemaFailure } from './route.ts'
import { stagedSession, stageRehearsal } from './staged-schema.ts'

/** In this session, the staged schema is active. */
interface Rehearsal {
  readonly session: Session
  readonly world: DataWorld
}

/** `active` is the world of the same query with the active schema. */
export class StagedWorld implements World {
  readonly names: NameReader
  readonly documents: DocumentAccess
  readonly sets: SetReader
  readonly access: AccessReader
  readonly sealing: TokenSealing
  readonly #session: Session
  readonly #active: DataWorld
  #rehearsal: Rehearsal | SchemaFailure | undefined
  #hasWritten = false

  constructor(session: Session, active: DataWorld) {
    this.#session = session
    this.#active = active
    this.names = active.names
    this.documents = this.#documents()
    this.sets = this.#sets()
    this.access = active.access
    this.sealing = active.sealing
  }

  callUser(callee: UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    return this.#active.callUser(callee, args, call)
  }

  #documents(): DocumentAccess {
    const active = this.#active.documents
    const readerOf = ({ ref }: Doc, call: Call): DocumentAccess =>
      (isSchemaNative(ref.collection) ? this.#staged(call)?.documents : undefined) ?? active
    return {
      byId: (collection, id, call) => active.byId(collection, id, call),
      byName: (collection, name, call) => {
        const staged = isDefinition(collection) ? this.#staged(call)?.documents : undefined
        return (staged ?? active).byName(collection, name)
      },
      absence: (doc, call, asWhole) => readerOf(doc, call).absence(doc, call, asWhole),
      fields: (doc, call) => readerOf(doc, call).fields(doc, call),
      storedText: (doc, tagged, call) => readerOf(doc, call).storedText(doc, tagged, call),
      field: (doc, name, call) => readerOf(doc, call).field(doc, name, call),
      hintUncovered: (doc, name, call) => active.hintUncovered(doc, name, call),
      collectionOf: ref => active.collectionOf(ref),
    }
  }

  /** Sets of definitions contain their staged form. */
  #sets(): SetReader {
    const active = this.#active.sets
    return {
      requireSomeRead: (collection, call) => active.requireSomeRead(collection, call),
      mayReadSome: collection => active.mayReadSome(collection),
      pathsOf: (collection, index) => active.pathsOf(collection, index),
      scan: (set, from, call) => {
        const isOfDefinitions = set instanceof StoredSet && isDefinition(set.options.collection)
        const sets = isOfDefinitions ? this.#staged(call)?.sets : undefined
        return (sets ?? active).scan(set, from, call)
      },
    }
  }

  get writer(): Writer {
    const active = this.#active.writer
    const write = <T>(isOfSchema: boolean, call: Call, work: (writer: Writer) => T): T => {
      if (!isOfSchema) return work(active)
      const { session, world } = this.#requireRehearsal(call)
      this.#hasWritten = true
      return session.withAuthority(this.#session.authority, () => work(world.writer))
    }
    const isOfSchema = (doc: Doc) => isSchemaNative(doc.ref.collection)
    return {
      create: (collection, data, mode, call) =>
        write(isDefinition(collection), call, writer => writer.create(collection, data, mode, call)),
      change: (how, doc, data, mode, call) =>
        write(isOfSchema(doc), call, writer => writer.change(how, doc, data, mode, call)),
      remove: (doc, call) => write(isOfSchema(doc), call, writer => writer.remove(doc, call)),
    }
  }

  /** Runs the checks that need all writes of the query, and stages the written definitions. Throws QueryFailures. */
  finish(): void {
    this.#active.finish()
    const rehearsal = this.#rehearsal
    if (!this.#hasWritten || rehearsal === undefined || rehearsal instanceof SchemaFailure) return
    rehearsal.world.finish()
    stageRehearsal(rehearsal.session, this.#session)
  }

  /** True if the query has written collections, functions, roles or access providers of the active schema. */
  get changesSchema(): boolean {
    return this.#active.changesSchema
  }

  /**
   * Returns undefined if `call` reads the past, or if the staged files are no longer a valid change of the active
   * schema.
   */
  #staged(call: Call): DataWorld | undefined {
    if (call.at !== undefined) return undefined
    const rehearsal = this.#rehearsalOrFailure()
    return rehearsal instanceof SchemaFailure ? undefined : rehearsal.world
  }

  #requireRehearsal(call: Call): Rehearsal {
    const rehearsal = this.#rehearsalOrFailure()
    if (rehearsal instanceof SchemaFailure) throw call.failure('invalid_schema', msg`${rehearsal.message}`)
    return rehearsal
  }

  /** Starts the rehearsal of the query when the query first needs it. */
  #rehearsalOrFailure(): Rehearsal | SchemaFailure {
    const begin = (): Rehearsal => {
      const session = stagedSession(this.#session)
      return { session, world: new DataWorld(session) }
    }
    this.#rehearsal ??= catchError(SchemaFailure, begin, failure => failure)
    return this.#rehearsal
  }
}

function isDefinition(collection: Module): boolean {
  return isSchemaNative(nativeNumber(collection))
}
