// Reads the terms, values and unique fields of the indexes and constraints in the definition of a collection.

import type { ObjectValue } from '../../values/value.ts'
import { type DefinedField, fieldsIn, namedIn, objectIn, partsIn } from './definition-parts.ts'

/** A term or value of a collection's index. */
export interface OwnField extends DefinedField {
  readonly isComputed: boolean
}

export interface TermsAndValues {
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
}

/** `name` selects terms, values, or the fields of a unique constraint. */
export function ownFields(part: ObjectValue, name: string, definition: ObjectValue): readonly OwnField[] {
  const computed = objectIn(definition, 'computed_fields')
  return fieldsIn(part, name).map(field => {
    const [first] = field.path
    return { ...field, isComputed: typeof first === 'string' && computed.has(first) }
  })
}

export function termsAndValues(index: ObjectValue, definition: ObjectValue): TermsAndValues {
  return { terms: ownFields(index, 'terms', definition), values: ownFields(index, 'values', definition) }
}

/** Returns the fields of each unique constraint, in the order of the definition. */
export function uniqueFields(definition: ObjectValue): readonly (readonly OwnField[])[] {
  const constraints = partsIn(definition, 'constraints').filter(each => each.has('unique'))
  return constraints.map(each => ownFields(each, 'unique', definition))
}

/** An index or a unique constraint. */
interface IndexedPart extends TermsAndValues {
  /** Undefined for a unique constraint. */
  readonly name: string | undefined
  readonly isUnique: boolean
}

export function indexedParts(definition: ObjectValue): readonly IndexedPart[] {
  const indexes = namedIn(definition, 'indexes').map(([name, index]) => ({
    name,
    isUnique: false,
    ...termsAndValues(index, definition),
  }))
  const constraints = uniqueFields(definition).map(terms => ({
    name: undefined,
    isUnique: true,
    terms,
    values: [],
  }))
  return [...indexes, ...constraints]
}
