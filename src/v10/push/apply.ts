// Carries a plan out: definitions are written as queries write them, by the same rules, and the files are stored.

import type { Session } from '../../model/session.ts'
import type { ObjectValue } from '../../values/value.ts'
import { QueryFailure } from '../failure/failure.ts'
import { definitionOf, nativeOfItem } from '../fsl/definition-of-item.ts'
import type { SchemaItem } from '../fsl/nodes.ts'
import { nativeModule } from '../library/natives.ts'
import type { Struct } from '../value.ts'
import { storeFiles } from './current-files.ts'
import { type OwnCall, ownCall } from './own-call.ts'
import type { Plan } from './plan.ts'
import { refusedWrite } from './schema-failure.ts'

/** Writes what a plan changes. Throws a SchemaFailure for what the definitions refuse. */
export function applyPlan(plan: Plan, session: Session): void {
  const writer = new DefinitionWriter(session)
  try {
    for (const { after, before } of plan.changes) {
      if (after !== undefined) writer.put(after, (before ?? after).name.text)
      else if (before !== undefined) writer.remove(before)
    }
    writer.finish()
  } catch (error) {
    throw error instanceof QueryFailure ? refusedWrite(error) : error
  }
  storeFiles(plan.after, session)
}

/** Writes definitions for one push. */
class DefinitionWriter {
  readonly #session: Session
  readonly #own: OwnCall

  constructor(session: Session) {
    this.#session = session
    this.#own = ownCall(session)
  }

  /** Makes the definition that an item stands for, in place of the one that has `name`, if there is one. */
  put(item: SchemaItem, name: string): void {
    const { call, world } = this.#own
    const { writer } = world
    const module = nativeModule(nativeOfItem[item.kind])
    const doc = world.byName(module, name)
    const before = this.#session.transaction.get(doc.ref)?.fields
    if (before === undefined) writer.create(module, definition(item), 'default', call)
    else writer.change('replace', doc, definition(item, before), 'default', call)
  }

  remove({ kind, name }: SchemaItem): void {
    const { call, world } = this.#own
    const doc = world.byName(nativeModule(nativeOfItem[kind]), name.text)
    if (this.#session.transaction.get(doc.ref) !== undefined) world.writer.remove(doc, call)
  }

  /** What is looked at when everything is written. */
  finish(): void {
    this.#own.world.finish()
  }
}

/** The fields of a definition; free data, which no item has, stays. */
function definition(item: SchemaItem, before?: ObjectValue): Struct {
  const data = before?.get('data')
  // What is stored of definitions is plain: texts, numbers, arrays and objects, which queries hold in the same form.
  const fields = definitionOf(item) as Struct
  return data === undefined ? fields : new Map([...fields, ['data', data]] as Iterable<[string, Struct]>)
}
