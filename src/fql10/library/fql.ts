// The module FQL, which contains every global name, so that variables cannot hide it, and FQL.Schema.

import { msg } from '../../base/message.ts'
import { BoundFunction, Module, type Value } from '../value.ts'
import { entriesFor, type FieldDefinition, type Members, members } from './entry.ts'
import { string } from './parameters.ts'

const { field, method } = entriesFor<Module>()

/** The table of the module FQL.Schema. */
export const schemaModule: Members = members('FQL.Schema', [
  method('defForIdentifier', {
    effect: 'read',
    parameters: { ident: string },
    result: 'Doc | Null',
    summary: 'The definition of the collection or the function with a name or alias.',
    example: ['FQL.Schema.defForIdentifier("shout")!.coll', 'Function'],
    run: (_, { ident }, call) =>
      call.evaluation.world.definitionOf(ident) ?? call.nothing(msg`no element found`),
  }),
])

/** Creates the module FQL from the other global names. */
export function fqlModule(globals: ReadonlyMap<string, Value>): Module {
  const schema = new Module('Schema', schemaModule, 'FQL')
  const entries = [...globals, ['Schema', schema] as const].map(([name, value]) => entryOf(name, value))
  return new Module('FQL', members('FQL', entries))
}

function entryOf(name: string, value: Value): FieldDefinition {
  return field(name, {
    result: value instanceof Module ? 'Module' : 'Function',
    summary: `The meaning of \`${name}\` if no variable has that name.`,
    example: [`FQL.${name}`, shown(value)],
    read: () => value,
  })
}

function shown(value: Value): string {
  if (value instanceof BoundFunction) return `"[function ${value.name}]"`
  return value instanceof Module ? value.path : ''
}
