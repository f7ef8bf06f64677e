// What tags of arguments name: modules, collections, documents.

import { DecodingError, type Names } from '../formats/decode.ts'
import { integerOfText } from '../integer-text.ts'
import { deletedCollection } from '../library/natives.ts'
import { id as idParameter } from '../library/parameters.ts'
import { globals } from '../library/tables.ts'
import { Module, type Value } from '../value.ts'
import type { DataWorld } from './data-world.ts'

/** The names that a request may use in its arguments. */
export function namesOf(world: DataWorld): Names {
  const module = (name: string): Module | undefined => {
    const value = globals.get(name) ?? world.global(name)
    return value instanceof Module ? value : undefined
  }
  return {
    module,
    document(tag, content) {
      if (typeof content !== 'string') return fromMembers(tag, content, world)
      const [name = '', id, ...rest] = content.split(':')
      const collection = module(name)
      const number = id === undefined ? undefined : integerOfText(id)
      if (collection === undefined || number === undefined || rest.length > 0) {
        throw new DecodingError(`invalid ${tag.slice(1)}`)
      }
      return world.reference(collection, number)
    },
  }
}

function fromMembers(tag: string, members: ReadonlyMap<string, Value>, world: DataWorld): Value {
  const collection = members.get('coll')
  if (!(collection instanceof Module) || collection === deletedCollection) {
    throw new DecodingError(`${tag} requires a collection`)
  }
  const name = members.get('name')
  if (typeof name === 'string') return world.named(collection, name)
  const given = members.get('id')
  const id = given === undefined ? undefined : idParameter.cast(given)
  if (id === undefined) throw new DecodingError(`${tag} requires an id or a name`)
  return world.reference(collection, id)
}
