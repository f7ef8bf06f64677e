// Generates the schema that clients see from an imported schema: operations for each type, inputs, pages and inputs of
// relations. The rules reproduce the generated schemas that public repositories contain.

import { step } from '../../base/effort.ts'
import { scalarNames } from '../wire/scalar-names.ts'
import {
  type ArgumentDefinition,
  directiveOf,
  type FieldDefinition,
  isEmbedded,
  isList,
  namedType,
  nullable,
  type ObjectDefinition,
  type SchemaDefinition,
  type TypeRef,
  typeText,
  upperFirst,
  withNamed,
} from './definitions.ts'
import { described, describedMany, describedOne, descriptions } from './descriptions.ts'
import type { Relation, Relations } from './relations.ts'

/** A field or an argument in the text of a schema. */
interface Member {
  readonly name: string
  readonly description?: string | undefined
  readonly type: string
  readonly arguments?: readonly Member[]
  readonly defaultValue?: string | undefined
}

const directiveDefinitions = [
  'directive @embedded on OBJECT',
  'directive @collection(name: String!) on OBJECT',
  'directive @index(name: String!) on FIELD_DEFINITION',
  'directive @resolver(name: String, paginated: Boolean! = false) on FIELD_DEFINITION',
  'directive @relation(name: String) on FIELD_DEFINITION',
  'directive @unique(index: String) on FIELD_DEFINITION',
]

const pageArguments: readonly Member[] = [
  { name: '_size', type: 'Int', description: descriptions.size },
  { name: '_cursor', type: 'String', description: descriptions.cursor },
]

/** Returns whether a resolver returns a page. */
export function isPaginated(field: FieldDefinition): boolean {
  return directiveOf(field, 'resolver')?.args.paginated === true
}

/** Returns whether a field is a relation whose value is read in pages. */
function isPaged(relation: Relation | undefined): boolean {
  return relation?.kind === 'opposite many' || relation?.kind === 'links'
}

/** Fields whose type is unknown are left out. */
export function generatedSdl(schema: SchemaDefinition, relations: Relations): string {
  return new Generator(schema, relations).text()
}

class Generator {
  readonly #schema: SchemaDefinition
  readonly #relations: Relations
  readonly #objects: ReadonlyMap<string, ObjectDefinition>
  readonly #known: ReadonlySet<string>
  readonly #blocks = new Map<string, string>()

  constructor(schema: SchemaDefinition, relations: Relations) {
    this.#schema = schema
    this.#relations = relations
    this.#objects = new Map(schema.objects.map(each => [each.name, each]))
    const inputs = schema.inputs.map(({ name }) => name)
    const enums = schema.enums.map(({ name }) => name)
    const generated = schema.objects.flatMap(({ name }) => [`${name}Input`, `PartialUpdate${name}Input`])
    this.#known = new Set([...scalarNames, ...this.#objects.keys(), ...inputs, ...enums, ...generated])
  }

  text(): string {
    const { enums, inputs, objects } = this.#schema
    for (const { description, fields, name } of inputs) {
      const members = fields.filter(field => this.#isKnown(field.type)).map(argumentMember)
      this.#add('input', name, description, members)
    }
    for (const each of enums) {
      const values = each.values.map(({ description, name }) => `${commentOf(description, '  ')}  ${name}`)
      this.#blocks.set(
        each.name,
        `${commentOf(each.description)}enum ${each.name} {\n${values.join('\n')}\n}`,
      )
    }
    for (const object of objects) this.#object(object)
    for (const object of objects) {
      this.#input(object, false)
      this.#input(object, true)
    }
    this.#add('type', 'Query', undefined, this.#queries())
    this.#add('type', 'Mutation', undefined, this.#mutations())
    const scalars = `scalar Date\n\nscalar Time\n\n${commentOf(descriptions.long)}scalar Long`
    return [...directiveDefinitions, scalars, ...this.#blocks.values()].join('\n\n')
  }

  #isKnown(type: TypeRef): boolean {
    return this.#known.has(namedType(type))
  }

  /** Has no effect if the schema has a type of this name, or for a type without members other than `Query`. */
  #add(
    kind: 'type' | 'input',
    name: string,
    description: string | undefined,
    members: readonly Member[],
  ): void {
    if (this.#blocks.has(name)) return
    if (members.length === 0 && name !== 'Query') return
    step(members.length)
    const body =
      members.length === 0 ? '' : ` {\n${members.map(each => memberText(each, '  ')).join('\n')}\n}`
    this.#blocks.set(name, `${commentOf(description)}${kind} ${name}${body}`)
  }

  #object(object: ObjectDefinition): void {
    const isEntity = !isEmbedded(object)
    const own: Member[] = isEntity
      ? [
          { name: '_id', type: 'ID!', description: descriptions.id },
          { name: '_ts', type: 'Long!', description: descriptions.ts },
        ]
      : []
    const fields = object.fields
      .filter(field => this.#isKnown(field.type))
      .map(field => this.#output(object, field))
    this.#add('type', object.name, object.description, [...own, ...fields])
  }

  #output(owner: ObjectDefinition, field: FieldDefinition): Member {
    const relation = this.#relations.of.get(`${owner.name}.${field.name}`)
    if (!isPaged(relation)) return this.#field(field)
    const target = namedType(field.type)
    return {
      ...this.#field(field),
      type: `${this.#page(`${target}Page`, target)}!`,
      arguments: pageArguments,
    }
  }

  #field({ description, name, type, arguments: given }: FieldDefinition): Member {
    const known = given.filter(argument => this.#isKnown(argument.type))
    return { name, description, type: typeText(type), arguments: known.map(argumentMember) }
  }

  /** Returns the name of the page's type. */
  #page(name: string, element: string): string {
    this.#add('type', name, described.page(element), [
      { name: 'data', type: `[${element}]!`, description: described.pageData(element) },
      { name: 'after', type: 'String', description: descriptions.after },
      { name: 'before', type: 'String', description: descriptions.before },
    ])
    return name
  }

  #input(object: ObjectDefinition, isPartial: boolean): void {
    const fields = object.fields.filter(field => this.#isKnown(field.type))
    const members = fields.map((field): Member => {
      const type = this.#inputType(object, field, isPartial)
      const { description, name } = field
      return { name, description, type: typeText(isPartial ? nullable(type) : type) }
    })
    const name = isPartial ? `PartialUpdate${object.name}Input` : `${object.name}Input`
    this.#add('input', name, described.input(object.name), members)
  }

  #inputType(owner: ObjectDefinition, field: FieldDefinition, isPartial: boolean): TypeRef {
    const target = this.#objects.get(namedType(field.type))
    if (target === undefined) return field.type
    if (isEmbedded(target))
      return withNamed(field.type, isPartial ? `PartialUpdate${target.name}Input` : `${target.name}Input`)
    const relation = this.#relations.of.get(`${owner.name}.${field.name}`)
    if (isEmbedded(owner)) {
      if (!isList(field.type)) this.#relationInput(owner, field, undefined)
      return withNamed(field.type, 'ID')
    }
    if (relation === undefined || relation.kind === 'list') return withNamed(field.type, 'ID')
    return { kind: 'named', name: this.#relationInput(owner, field, relation) }
  }

  /** Returns the name of the input. */
  #relationInput(owner: ObjectDefinition, field: FieldDefinition, relation: Relation | undefined): string {
    const name = relationInputName(owner.name, field.name)
    const target = namedType(field.type)
    const one = !isPaged(relation)
    const texts = one ? describedOne : describedMany
    const type = (of: string) => (one ? of : `[${of}]`)
    const members: Member[] = [
      { name: 'create', type: type(`${target}Input`), description: texts.create(target) },
      { name: 'connect', type: type('ID'), description: texts.connect(target) },
    ]
    if (!one || canDisconnect(field, relation))
      members.push({
        name: 'disconnect',
        type: one ? 'Boolean' : '[ID]',
        description: texts.disconnect(target),
      })
    const description = one
      ? describedOne.type(owner.name, field.name, target)
      : describedMany.type(owner.name, target)
    this.#add('input', name, description, members)
    return name
  }

  #queries(): Member[] {
    const own = this.#schema.queries.filter(field => this.#isKnown(field.type))
    const names = new Set(own.map(({ name }) => name))
    const finds = this.#entities().map(
      ({ name }): Member => ({
        name: `find${name}ByID`,
        description: described.find(name),
        type: name,
        arguments: [{ name: 'id', type: 'ID!', description: described.idArgument(name) }],
      }),
    )
    return [...finds.filter(({ name }) => !names.has(name)), ...own.map(field => this.#query(field))]
  }

  #query(field: FieldDefinition): Member {
    if (directiveOf(field, 'resolver') !== undefined) return this.#resolver(field, 'Query')
    const target = this.#objects.get(namedType(field.type))
    if (target === undefined || !isList(field.type)) return this.#field(field)
    return this.#paged(field, this.#page(`${target.name}Page`, target.name))
  }

  #resolver(field: FieldDefinition, root: 'Query' | 'Mutation'): Member {
    if (!isPaginated(field)) return this.#field(field)
    return this.#paged(field, this.#page(`${root}${upperFirst(field.name)}Page`, namedType(field.type)))
  }

  #paged(field: FieldDefinition, page: string): Member {
    const member = this.#field(field)
    return { ...member, type: `${page}!`, arguments: [...pageArguments, ...(member.arguments ?? [])] }
  }

  #mutations(): Member[] {
    const own = this.#schema.mutations.filter(field => this.#isKnown(field.type))
    const names = new Set(own.map(({ name }) => name))
    const generated = this.#entities().flatMap(({ name }) => this.#writes(name))
    const resolvers = own.map(field => this.#resolver(field, 'Mutation'))
    return [...generated.filter(each => !names.has(each.name)), ...resolvers]
  }

  #writes(type: string): Member[] {
    const id: Member = { name: 'id', type: 'ID!', description: described.idArgument(type) }
    const data = (input: string): Member[] =>
      this.#blocks.has(input) ? [{ name: 'data', type: `${input}!`, description: described.input(type) }] : []
    const partial = data(`PartialUpdate${type}Input`)
    const full = data(`${type}Input`)
    return [
      { name: `create${type}`, type: `${type}!`, description: described.create(type), arguments: full },
      { name: `update${type}`, type, description: described.update(type), arguments: [id, ...full] },
      { name: `delete${type}`, type, description: described.delete(type), arguments: [id] },
      {
        name: `partialUpdate${type}`,
        type,
        description: described.partialUpdate(type),
        arguments: [id, ...partial],
      },
    ]
  }

  #entities(): readonly ObjectDefinition[] {
    return this.#schema.objects.filter(each => !isEmbedded(each))
  }
}

export function relationInputName(type: string, field: string): string {
  return `${type}${upperFirst(field)}Relation`
}

/** Returns whether the input of a single relation can remove the relation without leaving a required field empty. */
function canDisconnect(field: FieldDefinition, relation: Relation | undefined): boolean {
  const back = relation !== undefined && 'back' in relation ? relation.back : undefined
  const decisive = back?.isUnique === true ? back.field : field
  return decisive.type.kind !== 'non-null'
}

function argumentMember({ defaultValue, description, name, type }: ArgumentDefinition): Member {
  return { name, description, type: typeText(type), defaultValue }
}

function memberText(member: Member, indent: string): string {
  const { arguments: given = [], defaultValue, description, name, type } = member
  const inner = given.map(each => memberText(each, `${indent}  `))
  const list = inner.length === 0 ? '' : `(\n${inner.join('\n')}\n${indent})`
  const value = defaultValue === undefined ? '' : ` = ${defaultValue}`
  return `${commentOf(description, indent)}${indent}${name}${list}: ${type}${value}`
}

function commentOf(description: string | undefined, indent = ''): string {
  return description === undefined ? '' : `${indent}${JSON.stringify(description)}\n`
}
