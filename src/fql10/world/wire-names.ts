// Resolves the tags `@mod`, `@doc` and `@ref` in request arguments to modules, collections and documents.

import { DecodingError, type TagNames } from '../formats/decode.ts'
import { deletedCollection, nativeNumber } from '../library/natives.ts'
import { id as idParameter } from '../library/parameters.ts'
import { globals } from '../library/tables.ts'
import { integerOfText } from '../numbers.ts'
import { Module, UserCollection, type Value } from '../value.ts'
import type { DataWorld } from './data-world.ts'
import { hasNames } from './native-fields.ts'

/** The read time of documents in arguments is the present. */
const now = { at: undefined }

export function namesOf(world: DataWorld): TagNames {
  const module = (name: string): Module | undefined => {
    const value = globals.get(name) ?? world.names.global(name)
    return value instanceof Module ? value : undefined
  }
  return {
    module,
    document(tag, content) {
      if (typeof content !== 'string') return fromMembers(tag, content, world)
      return fromText(content, module, world)
    },
  }
}

/** Resolves `Collection:id`, or `Collection:name` for a schema object. */
function fromText(text: string, module: (name: string) => Module | undefined, world: DataWorld): Value {
  const [title = '', id, ...rest] = text.split(':')
  if (id === undefined || rest.length > 0) {
    throw new DecodingError('doc id must be in the format <coll>:<id>')
  }
  const collection = module(title)
  if (!isCollection(collection)) throw new DecodingError(`no such collection '${title}'`)
  if (isNamed(collection)) {
    const found = world.documents.byName(collection, id)
    if (found.ref.id < 0n) throw new DecodingError(`no such schema definition document '${id}'`)
    return found
  }
  const number = integerOfText(id)
  if (number === undefined) throw new DecodingError(`invalid document id '${id}'`)
  return world.documents.byId(collection, number, now)
}

function isCollection(module: Value | undefined): module is Module {
  if (!(module instanceof Module) || module === deletedCollection) return false
  return module instanceof UserCollection || nativeNumber(module) !== undefined
}

/** True if documents of the collection are identified by name. */
function isNamed(collection: Module): boolean {
  const number = collection instanceof UserCollection ? undefined : nativeNumber(collection)
  return number !== undefined && hasNames(number)
}

function fromMembers(tag: string, members: ReadonlyMap<string, Value>, world: DataWorld): Value {
  const textOf = (field: string): string => {
    const value = members.get(field)
    if (value === undefined) throw new DecodingError(`${tag} field '${field}' is required`)
    if (typeof value !== 'string') throw new DecodingError(`${tag} field '${field}' requires a string value`)
    return value
  }
  const collection = members.get('coll')
  if (collection === undefined) throw new DecodingError(`${tag} field 'coll' is required`)
  if (!isCollection(collection)) throw new DecodingError(`${tag} field 'coll' requires a module value`)
  if (isNamed(collection)) {
    const name = textOf('name')
    const found = world.documents.byName(collection, name)
    if (found.ref.id < 0n) throw new DecodingError(`no such schema object '${name}'`)
    return found
  }
  const id = idParameter.cast(textOf('id'))
  if (id === undefined) throw new DecodingError(`${tag} field 'id' must be an integer`)
  return world.documents.byId(collection, id, now)
}
