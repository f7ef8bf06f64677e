// What is defined in a database, as items of schema files say it.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { textIn } from '../../../model/schema/definition-parts.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import { nativeModule } from '../../library/natives.ts'
import { Doc } from '../../value.ts'
import { shownFields } from '../../world/native-fields.ts'
import { itemKinds, nativeOfItem } from '../fsl/definition-of-item.ts'
import type { SchemaItem } from '../fsl/nodes.ts'
import { textOfDefinition } from '../fsl/text-of-definition.ts'
import type { Others } from './validation.ts'

/** A definition of a database. */
interface Definition {
  readonly kind: SchemaItem['kind']
  readonly ref: Ref
  readonly name: string
  /** As version 10 shows them. */
  readonly fields: ObjectValue
  /** The text of its item; undefined for what version 4 has made and a schema file cannot say. */
  readonly text: string | undefined
}

/** Everything that is defined in the session's database: by kind, and within that by age. */
export function definitionsOf(session: Session): readonly Definition[] {
  const { database, transaction } = session
  return transaction.catalogue.derived(database, 'items of schema files', () => {
    const { counters } = transaction
    const { readBytes } = counters
    const found = itemKinds.flatMap(kind =>
      Array.from(transaction.documents(database, nativeOfItem[kind], {}), ({ document }) =>
        definitionAt(document, kind, session),
      ),
    )
    // Read once for all writers: it counts for no query.
    counters.readBytes = readBytes
    return withTexts(found)
  })
}

/** What version 4 has made and no schema file says. */
export function othersOf(session: Session): Others {
  const foreign = definitionsOf(session).filter(({ text }) => text === undefined)
  const named = (kind: SchemaItem['kind']) => foreign.flatMap(each => (each.kind === kind ? [each.name] : []))
  return { functions: named('function'), roles: named('role') }
}

type Untold = Omit<Definition, 'text'>

function definitionAt(ref: Ref, kind: SchemaItem['kind'], session: Session): Untold {
  step(stepsPerDefinition)
  const stored: ObjectValue = session.transaction.get(ref)?.fields ?? new Map()
  const name = textIn(stored, 'name') ?? ''
  const shown = shownFields(new Doc(ref, nativeModule(ref.collection), { name }), stored, session)
  return { kind, ref, name, fields: new Map([['name', name], ...shown]) }
}

/** A function that is called like a collection needs an alias in a file, to be told apart. */
function withTexts(found: readonly Untold[]): readonly Definition[] {
  const collections = new Set(found.flatMap(({ kind, name }) => (kind === 'collection' ? [name] : [])))
  const taken = new Set([
    ...collections,
    ...found.flatMap(({ kind, name }) => (kind === 'function' ? [name] : [])),
  ])
  return found.map(each => {
    step(stepsPerDefinition)
    let alias: string | undefined
    if (each.kind === 'function' && collections.has(each.name) && !each.fields.has('alias')) {
      alias = `${each.name}Function`
      while (taken.has(alias)) alias += 'Function'
      taken.add(alias)
    }
    return { ...each, text: textOfDefinition(each, alias) }
  })
}
