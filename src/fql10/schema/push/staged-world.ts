// The world of a query while a schema is staged: definitions are read and written in their staged form. Everything
// else, including the meaning of names and functions, uses the active schema.

import { msg } from '../../../base/message.ts'
import type { Session } from '../../../model/session.ts'
import type { Ref } from '../../../values/value.ts'
import type { Absence, Call, SetReader, Writer } from '../../call.ts'
import { nativeNumber } from '../../library/natives.ts'
import { StoredSet } from '../../sets/stored-set.ts'
import type { Doc, Module, Struct, Value } from '../../value.ts'
import { DataWorld } from '../../world/data-world.ts'
import { isSchemaNative } from '../fsl/definition-of-item.ts'
import { SchemaFailure } from './schema-failure.ts'
import { stagedSession, stageRehearsal } from './staged-schema.ts'

/** A session in which the staged schema is active, with its world. */
interface Rehearsal {
  readonly session: Session
  readonly world: DataWorld
}

/** The world of one query while a schema is staged. */
export class StagedWorld extends DataWorld {
  readonly #session: Session
  #rehearsal: Rehearsal | SchemaFailure | undefined
  #hasWritten = false

  constructor(session: Session) {
    super(session)
    this.#session = session
  }

  override get sets(): SetReader {
    const active = super.sets
    return {
      requireIndex: (collection, call) => active.requireIndex(collection, call),
      mayReadSome: collection => active.mayReadSome(collection),
      pathsOf: (collection, index) => active.pathsOf(collection, index),
      scan: (set, from, call) => {
        const isOfDefinitions = set instanceof StoredSet && isDefinition(set.options.collection)
        const sets = isOfDefinitions ? this.#staged(call)?.sets : undefined
        return (sets ?? active).scan(set, from, call)
      },
    }
  }

  override get writer(): Writer {
    const active = super.writer
    const write = <T>(isOfSchema: boolean, call: Call, work: (writer: Writer) => T): T => {
      if (!isOfSchema) return work(active)
      const { session, world } = this.#required(call)
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
  override finish(): void {
    super.finish()
    const rehearsal = this.#rehearsal
    if (!this.#hasWritten || rehearsal === undefined || rehearsal instanceof SchemaFailure) return
    rehearsal.world.finish()
    stageRehearsal(rehearsal.session, this.#session)
  }

  /** The arguments of a request are decoded without a call. They refer to the active schema. */
  override byName(collection: Module, name: string, call?: Call): Doc {
    const staged = call !== undefined && isDefinition(collection) ? this.#staged(call) : undefined
    return staged === undefined ? super.byName(collection, name) : staged.byName(collection, name)
  }

  override absence(doc: Doc, call: Call, asWhole?: boolean): Absence | undefined {
    const staged = this.#stagedOf(doc.ref, call)
    return staged === undefined ? super.absence(doc, call, asWhole) : staged.absence(doc, call, asWhole)
  }

  override storedText(doc: Doc, tagged: boolean, call: Call): string | undefined {
    const staged = this.#stagedOf(doc.ref, call)
    return staged === undefined ? super.storedText(doc, tagged, call) : staged.storedText(doc, tagged, call)
  }

  override fields(doc: Doc, call: Call): Struct {
    return this.#stagedOf(doc.ref, call)?.fields(doc, call) ?? super.fields(doc, call)
  }

  override field(doc: Doc, name: string, call: Call): Value | undefined {
    const staged = this.#stagedOf(doc.ref, call)
    return staged === undefined ? super.field(doc, name, call) : staged.field(doc, name, call)
  }

  #stagedOf({ collection }: Ref, call: Call): DataWorld | undefined {
    return isSchemaNative(collection) ? this.#staged(call) : undefined
  }

  /**
   * The staged definitions. Undefined for reads in the past, and if the staged schema no longer fits the active schema.
   */
  #staged(call: Call): DataWorld | undefined {
    if (call.at !== undefined) return undefined
    const rehearsal = this.#begun()
    return rehearsal instanceof SchemaFailure ? undefined : rehearsal.world
  }

  #required(call: Call): Rehearsal {
    const rehearsal = this.#begun()
    if (rehearsal instanceof SchemaFailure) throw call.failure('invalid_schema', msg`${rehearsal.message}`)
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
  return isSchemaNative(nativeNumber(collection))
}
