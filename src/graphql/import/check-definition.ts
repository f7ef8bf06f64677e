// Checks a schema before its import: all types exist, and inputs and outputs have types that are allowed there.

import { step } from '../../base/effort.ts'
import { SchemaError } from '../errors.ts'
import type { Library } from '../library.ts'
import { graphqlLimits } from '../limits.ts'
import {
  type ArgumentDefinition,
  directiveOf,
  type FieldDefinition,
  isEmbedded,
  namedType,
  type SchemaDefinition,
} from '../schema/definitions.ts'
import { scalarNames } from '../wire/scalar-names.ts'

/** Determines where a named type may be used. */
type TypeKind = 'both' | 'input' | 'output'

/** Throws {@link SchemaError}. */
export function checkDefinition(schema: SchemaDefinition): void {
  const kinds = kindsOf(schema)
  const checkType = (field: FieldDefinition | ArgumentDefinition, coordinate: string, wrong: TypeKind) => {
    step()
    const name = namedType(field.type)
    const kind = kinds.get(name)
    if (kind === undefined) throw new SchemaError(`Unknown type '${name}' at '${coordinate}'.`)
    if (kind === wrong)
      throw new SchemaError(`The type '${name}' cannot be used at '${coordinate}': it is an ${kind} type.`)
  }
  const checkFields = (owner: string, fields: readonly FieldDefinition[]) => {
    for (const field of fields) {
      checkType(field, `${owner}.${field.name}`, 'input')
      for (const argument of field.arguments)
        checkType(argument, `${owner}.${field.name}(${argument.name})`, 'output')
    }
  }
  for (const object of schema.objects) {
    if (object.fields.length === 0) throw new SchemaError(`The type '${object.name}' has no fields.`)
    checkFields(object.name, object.fields)
    for (const name of ['generateUDFResolvers', 'collection'])
      if (isEmbedded(object) && directiveOf(object, name) !== undefined)
        throw new SchemaError(`The embedded type '${object.name}' cannot have the directive @${name}.`)
  }
  for (const { fields, name } of schema.inputs) {
    if (fields.length === 0) throw new SchemaError(`The input '${name}' has no fields.`)
    for (const field of fields) checkType(field, `${name}.${field.name}`, 'output')
  }
  for (const { name, values } of schema.enums)
    if (values.length === 0) throw new SchemaError(`The enum '${name}' has no values.`)
  checkFields('Query', schema.queries)
  checkFields('Mutation', schema.mutations)
}

function kindsOf({ enums, inputs, objects }: SchemaDefinition): ReadonlyMap<string, TypeKind> {
  const kinds = new Map<string, TypeKind>([...scalarNames].map(name => [name, 'both']))
  // Types may also refer to the inputs that are generated for each type.
  for (const { name } of objects) kinds.set(`${name}Input`, 'input').set(`PartialUpdate${name}Input`, 'input')
  const add = (name: string, kind: TypeKind, isGeneratedToo: boolean) => {
    if (name.length > graphqlLimits.schemaNameCharsMax)
      throw new SchemaError(
        `The name '${name.slice(0, 50)}…' is too long. Max: ${graphqlLimits.schemaNameCharsMax} characters.`,
      )
    if (kinds.has(name) && !isGeneratedToo) throw new SchemaError(`The type '${name}' is defined twice.`)
    kinds.set(name, kind)
  }
  for (const { name } of objects) add(name, 'output', false)
  for (const { name } of inputs) add(name, 'input', kinds.get(name) === 'input')
  for (const { name } of enums) add(name, 'both', false)
  return kinds
}

/** Checks the generated schema with the library. Throws {@link SchemaError}. */
export function checkGenerated(sdl: string, library: Library): void {
  const schema = library.buildASTSchema(library.parse(sdl, { noLocation: true }), { assumeValidSDL: true })
  // A schema with enums only has no fields to query.
  const [error] = library
    .validateSchema(schema)
    .filter(({ message }) => !message.startsWith('Type Query must'))
  if (error !== undefined) throw new SchemaError(error.message.replaceAll('"', "'"))
}
