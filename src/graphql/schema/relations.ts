// Recognizes the relations between the types of a schema, and names their collections and indexes. A relation is a field
// whose type is another type with a collection. Two fields that refer to each other's types form a pair. The names are
// part of the protocol, because roles and functions refer to them.

import { step } from '../../base/effort.ts'
import { SchemaError } from '../errors.ts'
import {
  directiveOf,
  directiveText,
  type FieldDefinition,
  isEmbedded,
  isList,
  lowerFirst,
  namedType,
  type ObjectDefinition,
  type SchemaDefinition,
} from './definitions.ts'

/** How a field of a type with a collection reads and stores its relation. */
export type Relation =
  /** The field contains the reference. */
  | { readonly kind: 'reference'; readonly target: string; readonly back?: FieldPair }
  /** The opposite field of the target contains the reference, at most once. */
  | { readonly kind: 'opposite one'; readonly target: string; readonly back: FieldPair }
  /** The opposite field of the targets contains the reference. */
  | { readonly kind: 'opposite many'; readonly target: string; readonly back: FieldPair }
  /** Documents of a link collection contain both references. */
  | { readonly kind: 'links'; readonly target: string; readonly links: LinkNames; readonly back?: FieldPair }
  /** The field contains a list of references. */
  | { readonly kind: 'list'; readonly target: string }

/** The opposite field of a relation. */
interface FieldPair {
  readonly field: FieldDefinition
  /** The index that finds the documents whose field refers to a document. */
  readonly index: string
  /** True for a one-to-one relation: no two documents may refer to the same document. */
  readonly isUnique: boolean
}

interface LinkNames {
  readonly collection: string
  /** The fields of a link: `own` refers to the document whose type has the relation, `other` to the target. */
  readonly own: string
  readonly other: string
  /** The index that finds the other documents. */
  readonly byOwn: string
  /** The index that finds the link of two documents, and its terms in order. */
  readonly byBoth: string
  readonly terms: readonly [string, string]
}

interface RelationIndex {
  readonly name: string
  readonly source: { readonly type: string } | { readonly collection: string }
  readonly terms: readonly string[]
  readonly values: readonly string[]
  readonly isUnique: boolean
}

export interface Relations {
  /** The relation of a field; undefined for other fields. The key is `Type.field`. */
  readonly of: ReadonlyMap<string, Relation>
  /** The name of each named relation, by `Type.field`. */
  readonly names: ReadonlyMap<string, string>
  readonly linkCollections: readonly string[]
  readonly indexes: readonly RelationIndex[]
}

/** A field that can be one side of a relation. */
interface Side {
  readonly owner: ObjectDefinition
  readonly field: FieldDefinition
  readonly target: ObjectDefinition
  /** True if the field contains a list. */
  readonly isMany: boolean
  /** The name in the directive. */
  readonly name: string | undefined
}

/** Throws {@link SchemaError} if the fields do not determine the pairs. */
export function relationsOf({ objects }: SchemaDefinition): Relations {
  const entities = new Map(objects.filter(each => !isEmbedded(each)).map(each => [each.name, each]))
  const sides = new Sides(
    [...entities.values()].flatMap(owner => owner.fields.flatMap(field => sideOf(owner, field, entities))),
  )
  const result = new RelationsBuilder()
  const paired = new Set<Side>()
  for (const side of sides.all) {
    if (paired.has(side)) continue
    const back = oppositeOf(side, sides, paired)
    paired.add(side)
    if (back !== undefined) paired.add(back)
    result.add(side, back)
  }
  for (const owner of entities.values()) addPlainLists(owner, entities, result)
  return result
}

class Sides {
  readonly all: readonly Side[]
  readonly #byTypes: ReadonlyMap<string, readonly Side[]>

  constructor(all: readonly Side[]) {
    this.all = all
    this.#byTypes = Map.groupBy(all, ({ owner, target }) => `${owner.name}>${target.name}`)
  }

  /** The fields of `owner` whose type is `target`. */
  between(owner: ObjectDefinition, target: ObjectDefinition): readonly Side[] {
    return this.#byTypes.get(`${owner.name}>${target.name}`) ?? []
  }
}

function sideOf(
  owner: ObjectDefinition,
  field: FieldDefinition,
  entities: ReadonlyMap<string, ObjectDefinition>,
): Side[] {
  const target = entities.get(namedType(field.type))
  if (target === undefined || directiveOf(field, 'resolver') !== undefined) return []
  const isMany = isList(field.type)
  const isMarked = directiveOf(field, 'relation') !== undefined
  if (isMany && !isMarked) return []
  if (isMany && target === owner)
    throw new SchemaError(
      `The field '${owner.name}.${field.name}' relates the type '${owner.name}' to itself. Use a type for the links between its documents instead.`,
    )
  return [{ owner, field, target, isMany, name: directiveText(field, 'relation', 'name') }]
}

function addPlainLists(
  owner: ObjectDefinition,
  entities: ReadonlyMap<string, ObjectDefinition>,
  result: RelationsBuilder,
): void {
  for (const field of owner.fields) {
    const target = namedType(field.type)
    const key = `${owner.name}.${field.name}`
    if (entities.has(target) && directiveOf(field, 'resolver') === undefined && !result.of.has(key))
      result.of.set(key, { kind: 'list', target })
  }
}

/** Returns the fields of the target that can be the opposite of a side. */
function candidatesOf(side: Side, sides: Sides, paired: ReadonlySet<Side>): readonly Side[] {
  if (side.owner === side.target) return []
  const opposite = sides.between(side.target, side.owner)
  const others = opposite.filter(other => !paired.has(other))
  step(others.length)
  const sameName = others.filter(({ name }) => name !== undefined && name === side.name)
  if (sameName.length > 0) return sameName
  const own = sides.between(side.owner, side.target)
  const defaults = new Set([...own, ...opposite].map(defaultName))
  // Metadata contains the default names of relations, too.
  const givenName = ({ name }: Side) => (name !== undefined && defaults.has(name) ? undefined : name)
  const name = givenName(side)
  if (name !== undefined && opposite.some(other => other.name === name)) return []
  const unnamed = others.filter(other => givenName(other) === undefined)
  // A name on one side is enough for a pair, but two fields without names belong together.
  if (name !== undefined || unnamed.length > 0) return unnamed
  return others.filter(other => own.every(each => each.name !== other.name))
}

/**
 * Returns the opposite side; undefined if there is none. Throws if several fields of the same kind are candidates. If a
 * single field and a list are candidates, the opposite is the one that comes first in the schema.
 */
function oppositeOf(side: Side, sides: Sides, paired: ReadonlySet<Side>): Side | undefined {
  const candidates = candidatesOf(side, sides, paired)
  const [first] = candidates
  if (first === undefined) return undefined
  rejectAmbiguous(side, candidates)
  const rivals = candidatesOf(first, sides, paired)
  rejectAmbiguous(first, rivals)
  return rivals[0] === side ? first : undefined
}

function rejectAmbiguous(side: Side, candidates: readonly Side[]): void {
  const [first, ...others] = candidates
  const rival = others.find(({ isMany }) => isMany === first?.isMany)
  if (first === undefined || rival === undefined) return
  const names = [first, rival].map(({ field, owner }) => `'${owner.name}.${field.name}'`).join(' and ')
  throw new SchemaError(
    `The field '${side.owner.name}.${side.field.name}' is ambiguous: its opposite field can be ${names}. These relationships must be made explicit: add the directive @relation with a name to both fields of each pair.`,
  )
}

class RelationsBuilder implements Relations {
  readonly of = new Map<string, Relation>()
  readonly names = new Map<string, string>()
  readonly linkCollections: string[] = []
  readonly indexes: RelationIndex[] = []

  add(side: Side, back: Side | undefined): void {
    const name = relationName(side, back)
    for (const each of back === undefined ? [side] : [side, back]) this.names.set(keyOf(each), name)
    if (back === undefined) {
      if (side.isMany) this.#links(name, side, undefined)
      else this.of.set(keyOf(side), { kind: 'reference', target: side.target.name })
    } else if (side.isMany && back.isMany) this.#links(name, side, back)
    else if (side.isMany) this.#reference(name, side, back, 'opposite many')
    else if (back.isMany) this.#reference(name, back, side, 'opposite many')
    // The type whose name sorts last contains the reference.
    else if (side.owner.name < back.owner.name) this.#reference(name, side, back, 'opposite one')
    else this.#reference(name, back, side, 'opposite one')
  }

  /** `holder` contains the reference to a document of `one`. */
  #reference(name: string, one: Side, holder: Side, kind: 'opposite one' | 'opposite many'): void {
    const index = `${name}_by_${lowerFirst(one.owner.name)}`
    const isUnique = kind === 'opposite one'
    this.of.set(keyOf(holder), {
      kind: 'reference',
      target: one.owner.name,
      back: { field: one.field, index, isUnique },
    })
    this.of.set(keyOf(one), {
      kind,
      target: holder.owner.name,
      back: { field: holder.field, index, isUnique },
    })
    this.#index(index, { type: holder.owner.name }, [holder.field.name], [], isUnique)
  }

  #links(collection: string, side: Side, back: Side | undefined): void {
    const own = lowerFirst(side.owner.name)
    const other = lowerFirst(side.target.name)
    const [a, b] = side.owner.name < side.target.name ? [own, other] : [other, own]
    const byBoth = `${collection}_by_${a}_and_${b}`
    const terms = [`${a}ID`, `${b}ID`] as const
    const add = (each: Side, opposite: Side | undefined, from: string, to: string) => {
      const byOwn = `${collection}_by_${from}`
      this.of.set(keyOf(each), {
        kind: 'links',
        target: each.target.name,
        links: { collection, own: `${from}ID`, other: `${to}ID`, byOwn, byBoth, terms },
        ...(opposite && { back: { field: opposite.field, index: byBoth, isUnique: false } }),
      })
      this.#index(byOwn, { collection }, [`${from}ID`], [`${to}ID`], false)
    }
    this.linkCollections.push(collection)
    add(side, back, own, other)
    if (back !== undefined) add(back, side, other, own)
    this.#index(byBoth, { collection }, terms, [], true)
  }

  #index(
    name: string,
    source: RelationIndex['source'],
    terms: readonly string[],
    values: readonly string[],
    isUnique: boolean,
  ): void {
    this.indexes.push({ name, source, terms, values, isUnique })
  }
}

function defaultName({ field, owner }: Side): string {
  return `${lowerFirst(owner.name)}_${field.name}`
}

function keyOf({ field, owner }: Side): string {
  return `${owner.name}.${field.name}`
}

/** The smallest name in the directives, else the smallest default name. Upper-case letters sort before `_`. */
function relationName(side: Side, back: Side | undefined): string {
  const sides = back === undefined ? [side] : [side, back]
  const given = sides.flatMap(({ name }) => name ?? [])
  const names = given.length > 0 ? given : sides.map(defaultName)
  return names.reduce((smallest, name) => (name < smallest ? name : smallest))
}
