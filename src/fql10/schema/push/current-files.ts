// Provides the schema files of a database, updated to match its definitions. Also provides the definitions, each with
// the text of its schema item.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { textIn } from '../../../model/schema/definition-parts.ts'
import { readSchemaFiles, writeSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import { nativeModule } from '../../library/natives.ts'
import { Doc } from '../../value.ts'
import { shownFields } from '../../world/native-fields.ts'
import { itemKinds, nativeOfItem } from '../fsl/definition-of-item.ts'
import { type FileText, itemsIn, patchFiles, readFile } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { textOfDefinition } from '../fsl/text-of-definition.ts'
import { type ForeignNames, itemFaults } from './validation.ts'

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

/** The texts of the items of all definitions. */
function itemTexts(session: Session): readonly string[] {
  return definitionsOf(session).flatMap(({ text }) => (text === undefined ? [] : [text]))
}

/** The files that match the current definitions. The files are not stored. */
export function currentFiles(session: Session): readonly FileText[] {
  return patchFiles(readSchemaFiles('active', session), itemTexts(session))
}

/** Updates and stores the files, and returns them. */
export function keepFiles(session: Session): readonly FileText[] {
  const stored = readSchemaFiles('active', session)
  const current = patchFiles(stored, itemTexts(session))
  const isSame =
    stored.length === current.length && current.every(({ text }, index) => stored[index]?.text === text)
  if (!isSame) storeFiles(current, session)
  return current
}

/** Updates stored files after a query has written definitions. Files that were never stored are created on demand. */
export function keepStoredFiles(session: Session): void {
  if (readSchemaFiles('active', session).length > 0) keepFiles(session)
}

/** Stores the files of the active schema. The write does not count as a cost of the query. */
export function storeFiles(files: readonly FileText[], session: Session): void {
  const { counters } = session.transaction
  const { writeBytes, writeOps } = counters
  writeSchemaFiles('active', files, session)
  counters.writeBytes = writeBytes
  counters.writeOps = writeOps
}

/**
 * Checks a schema that a query has changed, by the rules of pushes. Returns all faults in the updated schema files. A
 * stored file with syntax errors does not prevent other writes.
 */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const stored = new Map(readSchemaFiles('active', session).map(({ name, text }) => [name, text]))
  const current = currentFiles(session)
  const changed = current.filter(({ name, text }) => stored.get(name) !== text)
  const faults = changed.flatMap(file => readFile(file).faults)
  if (faults.length > 0) return faults
  return itemFaults(itemsIn(current), othersOf(session))
}
