// Provides the schema files of a database, updated to match the definitions in the database.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { isTypechecked } from '../../../model/resources/databases.ts'
import { textIn } from '../../../model/schema/definition-parts.ts'
import { readSchemaFiles, writeSchemaFiles } from '../../../model/schema/schema-files.ts'
import type { Session } from '../../../model/session.ts'
import type { ObjectValue, Ref } from '../../../values/value.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import { nativeModule } from '../../library/natives.ts'
import { defaultErrors, schemaErrors } from '../../typing/check-schema.ts'
import { Doc } from '../../value.ts'
import { shownFields } from '../../world/native-fields.ts'
import { itemKinds, nativeOfItem } from '../fsl/definition-of-item.ts'
import { type FileText, itemsIn, patchFiles, readFile } from '../fsl/patch.ts'
import type { SchemaItem } from '../fsl/schema-items.ts'
import { isForeign, textOfDefinition } from '../fsl/text-of-definition.ts'
import { type ForeignNames, itemFaults } from './validation.ts'

interface StoredItem {
  readonly kind: SchemaItem['kind']
  readonly ref: Ref
  readonly name: string
  /** Fields in the form of version 10. */
  readonly fields: ObjectValue
}

/** The text and the item are computed when they are first read: most queries need very few of them. */
class Definition implements StoredItem {
  readonly kind: SchemaItem['kind']
  readonly ref: Ref
  readonly name: string
  readonly fields: ObjectValue
  /** The alias in schema files, which may be generated. */
  readonly alias: string | undefined
  /** True for a definition of version 4 that a schema file cannot express. */
  readonly isForeign: boolean
  #text: string | undefined
  #item: SchemaItem | undefined

  constructor({ fields, kind, name, ref }: StoredItem, generatedAlias: string | undefined) {
    this.kind = kind
    this.ref = ref
    this.name = name
    this.fields = fields
    this.alias = textIn(fields, 'alias') ?? generatedAlias
    this.isForeign = isForeign(this)
  }

  get names(): readonly string[] {
    return this.alias === undefined ? [this.name] : [this.name, this.alias]
  }

  /** Undefined if the definition is foreign. */
  get text(): string | undefined {
    if (this.#text === undefined && !this.isForeign) {
      step(stepsPerDefinition)
      this.#text = textOfDefinition(this, this.alias)
    }
    return this.#text
  }

  /** Undefined if the definition is foreign, or if its code has syntax errors. */
  get item(): SchemaItem | undefined {
    const { kind, name, text } = this
    if (this.#item === undefined && text !== undefined) {
      const [item] = itemsIn([{ name: `*${kind}:${name}*`, text }])
      this.#item = item
    }
    return this.#item
  }
}

/** Returns the definitions of each kind in the order of their creation. */
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
    // The catalogue caches the result for all queries, so the reads are not added to the costs of this query.
    counters.readBytes = readBytes
    return withAliases(found)
  })
}

/** The names of functions and roles of version 4 that schema files cannot express. */
export function foreignNames(session: Session): ForeignNames {
  const foreign = definitionsOf(session).filter(each => each.isForeign)
  const named = (kind: SchemaItem['kind']) => foreign.flatMap(each => (each.kind === kind ? each.names : []))
  return { functions: named('function'), roles: named('role') }
}

function definitionAt(ref: Ref, kind: SchemaItem['kind'], session: Session): StoredItem {
  step(stepsPerDefinition)
  const stored: ObjectValue = session.transaction.get(ref)?.fields ?? new Map()
  const name = textIn(stored, 'name') ?? ''
  const shown = shownFields(new Doc(ref, nativeModule(ref.collection), { name }), stored, session)
  return { kind, ref, name, fields: new Map([['name', name], ...shown]) }
}

/**
 * In a file, a function with the same name as a collection needs an alias. If a function needs an alias but has none,
 * its text contains a generated alias.
 */
function withAliases(found: readonly StoredItem[]): readonly Definition[] {
  const collections = new Set(found.flatMap(({ kind, name }) => (kind === 'collection' ? [name] : [])))
  const names = new Set([
    ...collections,
    ...found.flatMap(({ kind, name }) => (kind === 'function' ? [name] : [])),
  ])
  return found.map(each => {
    let alias: string | undefined
    const needsAlias = each.kind === 'function' && collections.has(each.name) && !each.fields.has('alias')
    if (needsAlias && !isForeign(each)) {
      alias = `${each.name}Function`
      while (names.has(alias)) alias += 'Function'
      names.add(alias)
    }
    return new Definition(each, alias)
  })
}

function itemTexts(session: Session): readonly string[] {
  return definitionsOf(session).flatMap(({ text }) => (text === undefined ? [] : [text]))
}

/** Updates the schema files to match the current definitions, without storing them. */
export function currentFiles(session: Session): readonly FileText[] {
  return patchFiles(readSchemaFiles('active', session), itemTexts(session))
}

/** Updates the files to match the current definitions, and stores them if any file has changed. */
export function refreshFiles(session: Session): readonly FileText[] {
  const stored = readSchemaFiles('active', session)
  const current = patchFiles(stored, itemTexts(session))
  const isSame =
    stored.length === current.length && current.every(({ text }, index) => stored[index]?.text === text)
  if (!isSame) storeFiles(current, session)
  return current
}

/**
 * Call after a query has written definitions. Does nothing if the database has no stored files, because `refreshFiles`
 * stores the files when a client first reads them.
 */
export function refreshStoredFiles(session: Session): void {
  if (readSchemaFiles('active', session).length > 0) refreshFiles(session)
}

/** The write is not added to the costs of the query. */
export function storeFiles(files: readonly FileText[], session: Session): void {
  const { counters } = session.transaction
  const { writeBytes, writeOps } = counters
  writeSchemaFiles('active', files, session)
  counters.writeBytes = writeBytes
  counters.writeOps = writeOps
}

/**
 * Code is checked only if the schema has no other faults. The request, else the database, decides whether all code is
 * checked, or only the default values of fields.
 */
export function schemaItemFaults(items: readonly SchemaItem[], session: Session): readonly Diagnostic[] {
  const others = foreignNames(session)
  const faults = itemFaults(items, others)
  if (faults.length > 0) return faults
  const isChecked = session.typecheck ?? isTypechecked(session.database, session)
  return isChecked ? schemaErrors(items, others.functions) : defaultErrors(items)
}

/**
 * The rules are the same as for pushed schema files. If the files that the query changes cannot be parsed, returns only
 * their parse errors. Otherwise, returns all other faults of the schema. Parse errors in unchanged files are ignored,
 * so they do not prevent other writes.
 */
export function schemaFaults(session: Session): readonly Diagnostic[] {
  const stored = new Map(readSchemaFiles('active', session).map(({ name, text }) => [name, text]))
  const current = currentFiles(session)
  const changed = current.filter(({ name, text }) => stored.get(name) !== text)
  const faults = changed.flatMap(file => readFile(file).faults)
  if (faults.length > 0) return faults
  return schemaItemFaults(itemsIn(current), session)
}
