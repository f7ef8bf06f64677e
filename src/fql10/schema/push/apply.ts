// Executes a push plan: writes definitions by the rules of queries, and stores the files.

import type { Session } from '../../../model/session.ts'
import type { ObjectValue } from '../../../values/value.ts'
import { QueryFailure } from '../../failure/query-failure.ts'
import { nativeModule } from '../../library/natives.ts'
import type { Struct } from '../../value.ts'
import { definitionOf, nativeOfItem } from '../fsl/definition-of-item.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { storeFiles } from './current-files.ts'
import type { PushPlan } from './push-plan.ts'
import { failedWrite } from './schema-failure.ts'
import { serviceCall } from './service-call.ts'

/** Writes the changes of a plan. Throws a SchemaFailure for an invalid definition. */
export function applyPlan(plan: PushPlan, session: Session): void {
  const { callAt, world } = serviceCall(session)
  try {
    for (const { after, before } of plan.changes) {
      // At least one form exists. A renamed definition has its old name until it is written.
      const { kind, name } = (before ?? after) as SchemaItem
      const { end, source, start } = (after ?? before) as SchemaItem
      const call = callAt({ source, start, end })
      const module = nativeModule(nativeOfItem[kind])
      const doc = world.documents.byName(module, name.text)
      const stored = session.transaction.get(doc.ref)?.fields
      if (after === undefined) {
        if (stored !== undefined) world.writer.remove(doc, call)
      } else if (stored === undefined) world.writer.create(module, definition(after), 'default', call)
      else world.writer.change('replace', doc, definition(after, stored), 'default', call)
    }
    world.finish()
  } catch (error) {
    throw error instanceof QueryFailure ? failedWrite(error) : error
  }
  storeFiles(plan.after, session)
}

/** The fields of a definition. Its free data, which items do not contain, is kept. */
function definition(item: SchemaItem, before?: ObjectValue): Struct {
  const data = before?.get('data')
  // Stored definitions contain only texts, numbers, arrays and objects, which are the same as runtime values.
  const fields = definitionOf(item) as Struct
  return data === undefined ? fields : new Map([...fields, ['data', data]] as Iterable<[string, Struct]>)
}
