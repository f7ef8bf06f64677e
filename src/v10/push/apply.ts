// Carries a plan out: definitions are written as queries write them, by the same rules, and the files are stored.

import type { Session } from '../../model/session.ts'
import type { ObjectValue } from '../../values/value.ts'
import { Call } from '../call.ts'
import { Interpreter } from '../evaluate/interpreter.ts'
import { QueryFailure } from '../failure/failure.ts'
import { definitionOf, nativeOfItem } from '../fsl/definition-of-item.ts'
import type { SchemaItem } from '../fsl/nodes.ts'
import { Source } from '../syntax/source.ts'
import type { Struct } from '../value.ts'
import { DataWorld } from '../world/data-world.ts'
import { nativeModule } from '../world/names.ts'
import { storeFiles } from './current-files.ts'
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
  readonly #world: DataWorld
  readonly #call: Call

  constructor(session: Session) {
    this.#session = session
    this.#world = new DataWorld(session)
    const interpreter = new Interpreter({
      world: this.#world,
      now: session.transaction.snapshotTime,
      newId: () => session.newId(),
      compute: units => session.compute(units),
      placeholders: [],
      told: [],
    })
    this.#call = new Call(interpreter, undefined, new Source('*schema*', ''), undefined)
  }

  /** Makes the definition that an item stands for, in place of the one that has `name`, if there is one. */
  put(item: SchemaItem, name: string): void {
    const call = this.#call
    const { documents } = this.#world
    const module = nativeModule(nativeOfItem[item.kind])
    const doc = this.#world.named(module, name)
    const before = this.#session.transaction.get(doc.ref)?.fields
    if (before === undefined) documents.create(module, definition(item), 'default', call)
    else documents.change('replace', doc, definition(item, before), 'default', call)
  }

  remove({ kind, name }: SchemaItem): void {
    const module = nativeModule(nativeOfItem[kind])
    const doc = this.#world.named(module, name.text)
    if (this.#session.transaction.get(doc.ref) !== undefined) this.#world.documents.remove(doc, this.#call)
  }

  /** What is looked at when everything is written. */
  finish(): void {
    this.#world.finish()
  }
}

/** The fields of a definition; free data, which no item has, stays. */
function definition(item: SchemaItem, before?: ObjectValue): Struct {
  const data = before?.get('data')
  // What is stored of definitions is plain: texts, numbers, arrays and objects, which queries hold in the same form.
  const fields = definitionOf(item) as Struct
  return data === undefined ? fields : new Map([...fields, ['data', data]] as Iterable<[string, Struct]>)
}
