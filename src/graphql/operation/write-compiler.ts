// Compiles the generated mutations to expressions of version 4. The members `create`, `connect` and `disconnect` of an
// input become further writes of the same transaction. Their expressions depend on the values of the request, so an
// operation with relations in its inputs is compiled for each request.

import type { GraphQLInputObjectType, GraphQLInputType } from 'graphql'
import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { OperationError } from '../errors.ts'
import { graphqlLimits } from '../limits.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import {
  type FieldDefinition,
  isEmbedded,
  namedType,
  type ObjectDefinition,
  typeText,
} from '../schema/definitions.ts'
import { relationInputName } from '../schema/generated-sdl.ts'
import type { Relation } from '../schema/relations.ts'
import { call, type Fql, ifElse, lambda, letIn, match, objectOf, select, variable } from './fql.ts'
import type { ArgumentsOf, Parameters } from './parameters.ts'
import { collectionRef, documentRef, storedValue } from './stored-values.ts'

/** The coerced value of an input. */
type Input = Readonly<Record<string, unknown>>

/** A write after the write of a document. `self`: the expression of the document's reference. */
type LaterWrite = (self: Fql) => Fql

interface WriteParts {
  /** Bindings before the write: documents that the written document refers to. */
  readonly before: readonly (readonly [string, Fql])[]
  readonly data: Fql
  readonly after: readonly LaterWrite[]
}

export class WriteCompiler {
  readonly #schema: DatabaseSchema
  readonly #parameters: Parameters
  readonly #name: () => string

  /** `name`: returns a new name of a variable. */
  constructor(schema: DatabaseSchema, parameters: Parameters, name: () => string) {
    this.#schema = schema
    this.#parameters = parameters
    this.#name = name
  }

  /** Returns whether the expression of a write depends on the values of the request. */
  dependsOnInput(type: string, inputType: GraphQLInputType | undefined): boolean {
    const object = this.#schema.objects.get(type)
    const fields = this.#fieldsOf(inputType)
    return object?.fields.some(field => this.#relationInput(object, field, fields) !== undefined) === true
  }

  #fieldsOf(type: GraphQLInputType | undefined): ReturnType<GraphQLInputObjectType['getFields']> {
    const named = type && this.#schema.library.getNamedType(type)
    return this.#schema.library.isInputObjectType(named) ? named.getFields() : {}
  }

  /** Returns the relation of a field whose input has the generated type. */
  #relationInput(
    owner: ObjectDefinition,
    { name }: FieldDefinition,
    inputs: ReturnType<GraphQLInputObjectType['getFields']>,
  ): Relation | undefined {
    const input = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    const type = input && this.#schema.library.getNamedType(input.type)
    if (type?.name !== relationInputName(owner.name, name)) return undefined
    return this.#schema.relations.of.get(`${owner.name}.${name}`)
  }

  /**
   * Binds the document of a write and all further writes. `input` is undefined if the expression does not depend on the
   * values of the request. `write` makes the expression of the write from its data.
   */
  document(
    type: string,
    inputType: GraphQLInputType | undefined,
    given: ArgumentsOf,
    input: Input | undefined,
    write: (params: Fql) => Fql,
    isPartial: boolean,
  ): { readonly bindings: readonly (readonly [string, Fql])[]; readonly document: string } {
    const parts: WriteParts =
      input === undefined
        ? {
            before: [],
            data: this.#parameters.add(source =>
              this.#payload(type, inputType, (given(source).data ?? {}) as Input, isPartial),
            ),
            after: [],
          }
        : this.#parts(type, inputType, input, new Map(), isPartial, 1)
    const document = this.#name()
    const self = this.#name()
    const bindings: (readonly [string, Fql])[] = [
      ...parts.before,
      [document, write(objectOf([['data', parts.data]]))],
    ]
    if (parts.after.length > 0) bindings.push([self, select(['ref'], variable(document))])
    for (const later of parts.after) bindings.push([this.#name(), later(variable(self))])
    return { bindings, document }
  }

  /** `except`: the names of relations with their own writes. */
  #payload(
    type: string,
    inputType: GraphQLInputType | undefined,
    input: Input,
    isPartial: boolean,
    except: ReadonlySet<string> = new Set(),
  ): Map<string, Value> {
    const object = this.#schema.objects.get(type) as ObjectDefinition
    if (isPartial) rejectEmptied(object, input, this.#schema)
    const fields = new Map(object.fields.map(field => [field.name, field]))
    const inputs = this.#fieldsOf(inputType)
    const payload = new Map<string, Value>()
    for (const [name, value] of Object.entries(input)) {
      const field = inputs[name]
      if (field === undefined || except.has(name)) continue
      payload.set(name, storedValue(field.type, value, fields.get(name), this.#schema))
    }
    return payload
  }

  #parts(
    type: string,
    inputType: GraphQLInputType | undefined,
    input: Input,
    fixed: ReadonlyMap<string, Fql>,
    isPartial: boolean,
    depth: number,
  ): WriteParts {
    step()
    if (depth > graphqlLimits.inputDepthMax)
      throw OperationError.invalid(
        msg`The relations in the input are nested too deeply. Max: ${graphqlLimits.inputDepthMax} levels.`,
      )
    const object = this.#schema.objects.get(type) as ObjectDefinition
    const inputs = this.#fieldsOf(inputType)
    const before: (readonly [string, Fql])[] = []
    const after: LaterWrite[] = []
    const references = new Map(fixed)
    const own = new Set(fixed.keys())
    const removed: string[] = []
    for (const field of object.fields) {
      const relation = this.#relationInput(object, field, inputs)
      if (relation === undefined) continue
      own.add(field.name)
      const given = input[field.name] as Input | null | undefined
      if (given === null || given === undefined || fixed.has(field.name)) continue
      if (relation.kind !== 'reference') after.push(...this.#later(relation, given, depth))
      else if (given.create !== null && given.create !== undefined) {
        const name = this.#name()
        before.push([name, this.#created(relation.target, given.create as Input, new Map(), depth)])
        references.set(field.name, variable(name))
      } else if (given.connect !== null && given.connect !== undefined)
        references.set(field.name, documentRef(relation.target, given.connect, this.#schema))
      else if (given.disconnect === true) removed.push(field.name)
    }
    const payload = this.#payload(type, inputType, input, isPartial, own)
    for (const name of removed) payload.set(name, null)
    return { before, data: this.#dataOf(payload, references), after }
  }

  #dataOf(payload: ObjectValue, references: ReadonlyMap<string, Fql>): Fql {
    const fields = Array.from(payload, ([name, value]): [string, Fql] => [
      name,
      this.#parameters.add(() => value),
    ])
    return objectOf([...fields, ...references])
  }

  /** Returns the expression that creates a document with its relations, and returns the reference to the document. */
  #created(type: string, input: Input, fixed: ReadonlyMap<string, Fql>, depth: number): Fql {
    const inputType = this.#schema.generated.getType(`${type}Input`) as GraphQLInputObjectType | undefined
    const { after, before, data } = this.#parts(type, inputType, input, fixed, false, depth + 1)
    const self = this.#name()
    const create = call({ create: collectionRef(type, this.#schema), params: objectOf([['data', data]]) })
    const later = after.map(write => [this.#name(), write(variable(self))] as const)
    return letIn([...before, [self, select(['ref'], create)], ...later], variable(self))
  }

  /** Returns the writes of a relation that other documents store. */
  #later(relation: Relation, given: Input, depth: number): readonly LaterWrite[] {
    switch (relation.kind) {
      case 'opposite one':
      case 'opposite many':
        return this.#opposite(relation, given, depth)
      case 'links':
        return this.#links(relation, given, depth)
      default:
        return []
    }
  }

  #opposite(
    relation: Extract<Relation, { readonly kind: 'opposite one' | 'opposite many' }>,
    given: Input,
    depth: number,
  ): readonly LaterWrite[] {
    const { back, kind, target } = relation
    const { name } = back.field
    const update = (ref: Fql, value: Fql) =>
      call({ update: ref, params: objectOf([['data', objectOf([[name, value]])]]) })
    const ref = (id: unknown) => documentRef(target, id, this.#schema)
    const creates = laterWrites(given.create, (input, self) =>
      this.#created(target, input as Input, new Map([[name, self]]), depth),
    )
    const connects = laterWrites(given.connect, (id, self) => update(ref(id), self))
    if (kind === 'opposite many')
      return [...laterWrites(given.disconnect, id => update(ref(id), null)), ...creates, ...connects]
    if (given.disconnect !== true) return [...creates, ...connects]
    const index = this.#schema.relationObject('indexes', back.index)
    const item = this.#name()
    const removeAll: LaterWrite = self =>
      call({
        foreach: lambda(item, update(variable(item), null)),
        collection: call({ paginate: match(index, [self]) }),
      })
    return [removeAll, ...creates, ...connects]
  }

  #links(
    { links, target }: Extract<Relation, { readonly kind: 'links' }>,
    given: Input,
    depth: number,
  ): readonly LaterWrite[] {
    const collection = this.#schema.relationObject('collections', links.collection)
    const index = this.#schema.relationObject('indexes', links.byBoth)
    const create = (self: Fql, other: Fql) =>
      call({
        create: collection,
        params: objectOf([
          [
            'data',
            objectOf([
              [links.own, self],
              [links.other, other],
            ]),
          ],
        ]),
      })
    const linkOf = (self: Fql, other: Fql) =>
      match(
        index,
        links.terms.map(term => (term === links.own ? self : other)),
      )
    const ref = (id: unknown) => documentRef(target, id, this.#schema)
    const disconnects = laterWrites(given.disconnect, (id, self) => {
      const link = linkOf(self, ref(id))
      return ifElse(call({ exists: link }), call({ delete: select(['ref'], call({ get: link })) }), null)
    })
    const creates = laterWrites(given.create, (input, self) =>
      create(self, this.#created(target, input as Input, new Map(), depth)),
    )
    const connects = laterWrites(given.connect, (id, self) =>
      ifElse(call({ exists: linkOf(self, ref(id)) }), null, create(self, ref(id))),
    )
    return [...disconnects, ...creates, ...connects]
  }
}

/** Makes a write from each element of a list, or from a single value. */
function laterWrites(value: unknown, write: (item: unknown, self: Fql) => Fql): readonly LaterWrite[] {
  return itemsOf(value).map(item => self => write(item, self))
}

/** The elements of a list or a single value, without nulls. */
function itemsOf(value: unknown): readonly unknown[] {
  const items = Array.isArray(value) ? value : [value]
  return items.filter(item => item !== null && item !== undefined)
}

/** Throws if a partial update sets a required field to null. */
function rejectEmptied(object: ObjectDefinition, input: Input, schema: DatabaseSchema): void {
  for (const field of object.fields) {
    const value = input[field.name]
    if (
      value === null &&
      field.type.kind === 'non-null' &&
      !schema.relations.of.has(`${object.name}.${field.name}`)
    ) {
      const text = msg`Field '${object.name}.${field.name}' of required type '${typeText(field.type)}' cannot be null.`
      throw OperationError.failed('invalid argument', text)
    }
    const embedded = schema.objects.get(namedType(field.type))
    if (embedded === undefined || !isEmbedded(embedded)) continue
    for (const each of itemsOf(value)) rejectEmptied(embedded, each as Input, schema)
  }
}
