// Plans the migration of a collection's documents to a new definition, and reports the faults of the migration
// statements.

import { msg } from '../../../base/message.ts'
import { typeText } from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import { isSubtype, typeDifference } from '../../../model/schema/type-check.ts'
import type { FindCollection } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import { isSameTree } from '../fsl/diff/same-tree.ts'
import { type Declaration, type PlannedStep, type Statement, spanIn } from './declaration.ts'
import {
  type Field,
  hasWildcard,
  isPresent,
  isStruct,
  mayBeAbsent,
  nameInStatement,
  type StructShape,
  shapeOf,
  shownField,
  typeOf,
} from './document-shape.ts'
import { addStatements, fault, insertBlockBefore, splitBefore, valueHints, wildcardFirst } from './hints.ts'
import { Rewinder } from './rewind.ts'

export interface MigrationPlan {
  /** Steps in the order of execution. Empty if there are faults. */
  readonly steps: readonly PlannedStep[]
  /** The statements that were not executed yet; without faults, none if the collection has no documents. */
  readonly statements: readonly Statement[]
  readonly faults: readonly Diagnostic[]
}

/**
 * `live` is the stored declaration, undefined if the collection has no documents. The plan then has no steps, but still
 * reports inconsistent statements.
 */
export function planMigration(
  submitted: Declaration,
  live: Declaration | undefined,
  find: FindCollection,
): MigrationPlan {
  const statements =
    live === undefined ? submitted.statements : newStatements(submitted.statements, live.statements)
  const rewinder = new Rewinder(shapeOf(submitted, find), submitted)
  for (const statement of statements.toReversed()) rewinder.rewind(statement)
  rewinder.finish()
  const { faults, shape, steps } = rewinder
  if (faults.length > 0) return { steps: [], statements, faults }
  if (live === undefined) return { steps: [], statements: [], faults: [] }
  const liveShape = shapeOf(live, find)
  const comparison = new Comparison(shape, submitted)
  const differences = [...comparison.fields(shape, liveShape), ...comparison.wildcards(liveShape)]
  return { steps: differences.length > 0 ? [] : steps.toReversed(), statements, faults: differences }
}

/** The executed statements are the longest prefix of `submitted` that is also a suffix of `live`. */
function newStatements(submitted: readonly Statement[], live: readonly Statement[]): readonly Statement[] {
  for (let done = Math.min(submitted.length, live.length); done > 0; done--) {
    const tail = live.slice(live.length - done)
    if (tail.every((statement, index) => isSameTree(statement.node, submitted[index]?.node)))
      return submitted.slice(done)
  }
  return submitted
}

/**
 * Rewinding (undoing) the submitted statements, the last one first, results in the shape that documents must have
 * before the migration. This class compares that shape with the live shape, which the stored declaration describes.
 */
class Comparison {
  readonly #top: StructShape
  readonly #declaration: Declaration

  constructor(top: StructShape, declaration: Declaration) {
    this.#top = top
    this.#declaration = declaration
  }

  get #item(): Span | undefined {
    const { ranges } = this.#declaration
    return ranges && { source: ranges.source, ...ranges.item }
  }

  /** Reports the differences first for live fields, then for new fields. */
  fields(rewound: StructShape, live: StructShape): readonly Diagnostic[] {
    const known = Array.from(live.fields).flatMap(([name, field]) =>
      this.#liveField(field, rewound.fields.get(name)),
    )
    const added = Array.from(rewound.fields).flatMap(([name, field]) =>
      live.fields.has(name) ? [] : this.#newField(field),
    )
    return [...known, ...added]
  }

  #liveField(live: Field, field: Field | undefined): readonly Diagnostic[] {
    const { path } = live
    const shown = shownField(path)
    if (field === undefined) {
      const message = msg`Field ${shown} is missing from the submitted schema`
      const remark = addStatements('Drop the field and its data with a `drop` migration', this.#declaration, [
        `drop ${pathSpelling(path)}`,
      ])
      return [fault(message, this.#item, remark)]
    }
    const { content, nameSpan, origin } = field
    if (!isPresent(field) || origin.kind === 'backfilled') {
      const message = msg`Field ${shown} is in the live schema, so it cannot be added or backfilled`
      const by = origin.kind === 'backfilled' ? origin.by : undefined
      return [fault(message, by ? spanIn(by, by.node) : nameSpan)]
    }
    const [type, liveType] = [typeOf(content), typeOf(live.content)]
    if (isStruct(content) && isStruct(live.content)) {
      const [rest, liveRest] = [content.wildcard, live.content.wildcard]
      if (rest === undefined && liveRest === undefined) return this.fields(content, live.content)
      if (rest !== undefined && !rest.isOfDropped && liveRest !== undefined) {
        const faults = this.fields(content, live.content)
        if (isSubtype(liveRest.type, rest.type)) return faults
        return [...faults, this.#typeMismatch(field, path, type, liveType)]
      }
    }
    // No statement can change the wildcard of a nested object. But a new type that allows more fields than the live
    // type needs no statement, because the new type accepts all live values.
    return isSubtype(liveType, type) ? [] : [this.#typeMismatch(field, path, type, liveType)]
  }

  #typeMismatch(
    { nameSpan, origin, typeSpan }: Field,
    path: FieldNames,
    type: ReturnType<typeof typeOf>,
    liveType: ReturnType<typeof typeOf>,
  ): Diagnostic {
    const types = `of type \`${typeText(type)}\` does not match the live type \`${typeText(liveType)}\``
    const message = msg`Field ${shownField(path)} ${types}`
    if (origin.kind === 'dropped') return fault(message, nameInStatement(origin.by, path))
    const remark = splitBefore(
      'Add a migration to split the invalid types into another field',
      this.#declaration,
      origin.kind === 'declared' ? nameSpan : undefined,
      path,
      typeText(typeDifference(liveType, type)),
    )
    const span = origin.kind === 'declared' ? typeSpan : undefined
    return fault(message, span, remark)
  }

  #newField(field: Field): readonly Diagnostic[] {
    const { content, origin, path } = field
    if (!isPresent(field)) return []
    const shown = shownField(path)
    if (origin.kind === 'dropped') {
      const message = msg`Field ${shown} was dropped but it doesn't exist in the live schema`
      return [fault(message, nameInStatement(origin.by, path))]
    }
    if (origin.kind !== 'declared') return [this.#incompatible()]
    if (isStruct(content) && content.wildcard === undefined) {
      const missing = missingWithin(content)
      const [only] = missing
      // Statements that add all fields of an object also add the object.
      const isAdded = content.fields.size > 0 && missing.length === 0
      if (isAdded && !hasWildcard(this.#top)) return []
      if (missing.length === 1 && only !== undefined) return [this.#undeclared(only)]
    }
    return [this.#undeclared(field)]
  }

  #undeclared({ content, defaultValue, nameSpan, path, typeSpan }: Field): Diagnostic {
    const message = msg`Field ${shownField(path)} is not present in the live schema`
    const provide = 'Provide an `add` migration for this field'
    if (defaultValue !== undefined || mayBeAbsent(typeOf(content))) {
      const added = addStatements(provide, this.#declaration, [`add ${pathSpelling(path)}`])
      return fault(message, nameSpan, added)
    }
    const name = pathSpelling(path.slice(-1))
    const { defaulted, nullable } = valueHints(typeSpan)
    const added = insertBlockBefore(provide, nameSpan, [`add ${name}`, `backfill ${name} = <expr>`])
    return fault(message, nameSpan, added, defaulted, nullable)
  }

  #incompatible(): Diagnostic {
    return fault(msg`Submitted schema is not compatible with the live schema`, this.#item)
  }

  wildcards(live: StructShape): readonly Diagnostic[] {
    const top = this.#top
    if (hasWildcard(top) === (live.wildcard !== undefined)) return []
    if (live.wildcard === undefined) return [this.#newWildcard()]
    if (top.wildcard !== undefined) return [this.#incompatible()]
    const message = msg`Missing wildcard definition`
    if (live.wildcard.isImplicit) {
      const kept =
        'Collections with no fields defined allow arbitrary fields by default. To keep this behavior, add a wildcard declaration to the schema definition'
      return [fault(message, this.#item, wildcardFirst(kept, this.#declaration))]
    }
    const [moved, dropped] = ['move_wildcard .conflicts', 'drop .conflicts']
    const remarks = [
      wildcardFirst('Add the wildcard back', this.#declaration),
      addStatements(
        'Move the extra fields with a `move_wildcard` migration',
        this.#declaration,
        [moved],
        'at the beginning',
      ),
      addStatements(
        'Drop the extra fields with a `move_wildcard` and `drop` migration',
        this.#declaration,
        [moved, dropped],
        'at the beginning',
      ),
    ]
    return [fault(message, this.#item, ...remarks)]
  }

  #newWildcard(): Diagnostic {
    const { wildcard } = this.#top
    if (wildcard?.isImplicit) {
      const message = msg`All fields from the live schema are dropped, reintroducing the implicit wildcard that requires an \`add_wildcard\` migration. Are you sure you meant to do this?`
      return fault(message, this.#item)
    }
    const remark = addStatements('Add the wildcard with an `add_wildcard` migration', this.#declaration, [
      'add_wildcard',
    ])
    return fault(msg`Wildcard was not present in the live schema`, wildcard?.span, remark)
  }
}

/** Includes the fields of nested objects. */
function missingWithin({ fields }: StructShape): readonly Field[] {
  return Array.from(fields.values()).flatMap(field => {
    if (!isPresent(field)) return []
    const { content } = field
    const isOpen = !isStruct(content) || content.wildcard !== undefined || content.fields.size === 0
    return isOpen ? [field] : missingWithin(content)
  })
}
