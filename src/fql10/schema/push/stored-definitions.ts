// Lists the definitions of a database with the texts of their schema items.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { textIn } from '../../../model/schema/definition-parts.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import { nativeModule } from '../../library/natives.ts'
import { Doc } from '../../value.ts'
import { shownFields } from '../../world/native-fields.ts'
import { itemKinds, nativeOfItem } from '../fsl/definition-of-item.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { textOfDefinition } from '../fsl/text-of-definition.ts'
import type { ForeignNames } from './validation.ts'

/** A definition in a database. */
interface Definition {
  readonly kind: SchemaItem['kind']
  readonly ref: Ref
  readonly name: string
  /** The fields in the form of version 10. */
  readonly fields: ObjectValue
  /** The text of the item; undefined for definitions of version 4 that a schema file cannot express. */
  readonly text: string | undefined
}

/** All definitions in the session's database, ordered by kind and creation. */
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
    // The result is shared by all queries, so its reads do not count as costs of this query.
    counters.readBytes = readBytes
    return withTexts(found)
  })
}

/** Functions and roles of version 4 that schema files cannot express. */
export function othersOf(session: Session): ForeignNames {
  const foreign = definitionsOf(session).filter(({ text }) => text === undefined)
  const named = (kind: SchemaItem['kind']) => foreign.flatMap(each => (each.kind === kind ? [each.name] : []))
  return { functions: named('function'), roles: named('role') }
}

type DefinitionWithoutText = Omit<Definition, 'text'>

function definitionAt(ref: Ref, kind: SchemaItem['kind'], session: Session): DefinitionWithoutText {
  step(stepsPerDefinition)
  const stored: ObjectValue = session.transaction.get(ref)?.fields ?? new Map()
  const name = textIn(stored, 'name') ?? ''
  const shown = shownFields(new Doc(ref, nativeModule(ref.collection), { name }), stored, session)
  return { kind, ref, name, fields: new Map([['name', name], ...shown]) }
}

/** Adds the texts. In a file, a function with the name of a collection needs an alias. */
function withTexts(found: readonly DefinitionWithoutText[]): readonly Definition[] {
  const collections = new Set(found.flatMap(({ kind, name }) => (kind === 'collection' ? [name] : [])))
  const names = new Set([
    ...collections,
    ...found.flatMap(({ kind, name }) => (kind === 'function' ? [name] : [])),
  ])
  return found.map(each => {
    step(stepsPerDefinition)
    let alias: string | undefined
    if (each.kind === 'function' && collections.has(each.name) && !each.fields.has('alias')) {
      alias = `${each.name}Function`
      while (names.has(alias)) alias += 'Function'
      names.add(alias)
    }
    return { ...each, text: textOfDefinition(each, alias) }
  })
}
