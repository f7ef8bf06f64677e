// Compiles an operation to one expression of version 4, so that all its fields run in one transaction. The expression is
// a lambda over the parameters of the request.

import type { GraphQLField, GraphQLObjectType, OperationDefinitionNode } from 'graphql'
import { compileLambdaWith } from '../../fql4/stored-code.ts'
import { Lambda } from '../../values/value.ts'
import type { Fragments } from '../limits.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import { directiveOf, type FieldDefinition, namedType } from '../schema/definitions.ts'
import { isPaginated } from '../schema/generated-sdl.ts'
import { decodeCursor } from './cursors.ts'
import { documentFunctions } from './document-functions.ts'
import { call, type Fql, firstOf, ifElse, letIn, match, objectOf, variable } from './fql.ts'
import { type ArgumentsOf, argumentsOf, type ParameterInputs, Parameters } from './parameters.ts'
import { ReadCompiler, sizeOf } from './read-compiler.ts'
import { nonNullText, type ObjectPlan, type Plan, type PlanMember } from './result-plan.ts'
import { type SelectedField, Selections } from './selections.ts'
import { collectionRef, documentRef, storedValue } from './stored-values.ts'
import { WriteCompiler } from './write-compiler.ts'

const apiVersion = '4'

export interface CompiledOperation {
  readonly lambda: Lambda
  readonly parameters: Parameters
  readonly plan: ObjectPlan
  /** The nodes of the fields `__schema` and `__type`, which the library evaluates. */
  readonly introspections: readonly SelectedField[]
  /** True if the expression depends on the values of the request, so that only this request can use it. */
  readonly isForOneRequest: boolean
}

interface RootField {
  readonly expression: Fql
  readonly plan: Plan
}

/** `source`: the request for which the operation is compiled. */
export function compileOperation(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  schema: DatabaseSchema,
  source: ParameterInputs,
): CompiledOperation {
  return new OperationCompiler(fragments, schema, source).compile(operation)
}

class OperationCompiler {
  readonly #schema: DatabaseSchema
  readonly #source: ParameterInputs
  readonly #parameters = new Parameters()
  readonly #selections: Selections
  readonly #reads: ReadCompiler
  readonly #writes: WriteCompiler
  #isForOneRequest = false

  constructor(fragments: Fragments, schema: DatabaseSchema, source: ParameterInputs) {
    this.#schema = schema
    this.#source = source
    this.#selections = new Selections(fragments, source.variables, schema.library)
    this.#reads = new ReadCompiler(schema, this.#selections, this.#parameters)
    this.#writes = new WriteCompiler(schema, this.#parameters, () => this.#reads.name())
  }

  compile({ operation, selectionSet }: OperationDefinitionNode): CompiledOperation {
    const { generated } = this.#schema
    const root = (
      operation === 'mutation' ? generated.getMutationType() : generated.getQueryType()
    ) as GraphQLObjectType
    const bindings: [string, Fql][] = []
    const slots: [string, Fql][] = []
    const introspections: SelectedField[] = []
    const members = this.#selections.fields([selectionSet]).map((field): PlanMember => {
      const { key, name, node } = field
      if (name === '__typename')
        return { key, node, plan: nonNullText, source: { kind: 'text', text: root.name } }
      const slot = `f${slots.length}`
      if (name === '__schema' || name === '__type') {
        introspections.push(field)
        return { key, node, plan: { kind: 'leaf', type: 'introspection' }, source: { kind: 'introspection' } }
      }
      const { expression, plan } = this.#rootField(root, field)
      bindings.push([slot, expression])
      slots.push([slot, variable(slot)])
      return { key, node, plan, source: { kind: 'slot', name: slot } }
    })
    const body = letIn(bindings, objectOf(slots))
    const lambda = new Lambda(apiVersion, this.#parameters.names, body)
    compileLambdaWith(lambda, documentFunctions)
    return {
      lambda,
      parameters: this.#parameters,
      plan: { kind: 'object', isEntity: false, hasSlots: true, members },
      introspections,
      isForOneRequest: this.#isForOneRequest,
    }
  }

  #rootField(root: GraphQLObjectType, field: SelectedField): RootField {
    const definition = root.getFields()[field.name] as GraphQLField<unknown, unknown>
    const given = argumentsOf(definition, field.node, this.#schema.library)
    const declared = this.#schema.declared.get(`${root.name}.${field.name}`)
    if (declared === undefined) return this.#generated(definition, field, given)
    return directiveOf(declared, 'resolver') === undefined
      ? this.#index(definition, declared, field, given)
      : this.#resolver(root.name, definition, declared, field, given)
  }

  /** A field that reads an index. */
  #index(
    definition: GraphQLField<unknown, unknown>,
    declared: FieldDefinition,
    field: SelectedField,
    given: ArgumentsOf,
  ): RootField {
    const index = this.#schema.indexes.get(field.name)
    if (index === undefined) throw new Error(`the field ${field.name} has an index`)
    const target = this.#schema.objects.get(namedType(declared.type))
    const terms = declared.arguments.flatMap(({ name }) => {
      const argument = definition.args.find(each => each.name === name)
      if (argument === undefined) return []
      const stored = target?.fields.find(each => each.name === name)
      return [
        this.#parameters.add(source => storedValue(argument.type, given(source)[name], stored, this.#schema)),
      ]
    })
    const set = match(index.ref, terms)
    const { library } = this.#schema
    const named = library.getNamedType(definition.type)
    if (named.name === target?.name)
      return this.#reads.value(definition.type, field.selectionSets, firstOf(set))
    return this.#reads.page(definition.type, field.selectionSets, this.#reads.paginate(set, given), given)
  }

  /** A field that calls a function. */
  #resolver(
    root: string,
    definition: GraphQLField<unknown, unknown>,
    declared: FieldDefinition,
    field: SelectedField,
    given: ArgumentsOf,
  ): RootField {
    const resolver = this.#schema.functions.get(`${root}.${field.name}`)
    if (resolver === undefined) throw new Error(`the field ${field.name} has a function`)
    const values = declared.arguments.map(({ name }) => {
      const argument = definition.args.find(each => each.name === name)
      return this.#parameters.add(source =>
        argument === undefined
          ? null
          : storedValue(argument.type, given(source)[name], undefined, this.#schema),
      )
    })
    if (!isPaginated(declared)) {
      const result = call({ call: resolver.ref, arguments: values })
      return this.#reads.value(definition.type, field.selectionSets, result)
    }
    const cursor = (direction: 'after' | 'before') =>
      this.#parameters.add(source => {
        const text = given(source)._cursor
        const decoded = typeof text === 'string' ? decodeCursor(text, source.session) : undefined
        return decoded?.get(direction) ?? null
      })
    const size = this.#parameters.add(source => sizeOf(given(source)))
    const page = call({ call: resolver.ref, arguments: [...values, size, cursor('after'), cursor('before')] })
    return this.#reads.page(definition.type, field.selectionSets, page, given)
  }

  /** A field that the schema has for every type with a collection, such as `findUserByID`. */
  #generated(
    definition: GraphQLField<unknown, unknown>,
    field: SelectedField,
    given: ArgumentsOf,
  ): RootField {
    const { library } = this.#schema
    const type = library.getNamedType(definition.type) as GraphQLObjectType
    const ref = () => this.#parameters.add(source => documentRef(type.name, given(source).id, this.#schema))
    const isNonNull = library.isNonNullType(definition.type)
    const planned = (plan: Plan): Plan => (isNonNull ? { kind: 'non-null', of: plan } : plan)
    if (field.name.startsWith('find')) return this.#reads.value(definition.type, field.selectionSets, ref())
    const document = this.#reads.name()
    const { expression, plan } = this.#reads.document(type, field.selectionSets, variable(document))
    if (field.name.startsWith('delete')) {
      const target = ref()
      const removed = letIn([[document, call({ delete: target })]], expression)
      return { expression: ifElse(call({ exists: target }), removed, null), plan: planned(plan) }
    }
    const isCreate = field.name.startsWith('create')
    const target = isCreate ? collectionRef(type.name, this.#schema) : ref()
    const inputType = definition.args.find(({ name }) => name === 'data')?.type
    const depends = this.#writes.dependsOnInput(type.name, inputType)
    if (depends) this.#isForOneRequest = true
    const input = depends
      ? ((given(this.#source).data ?? {}) as Readonly<Record<string, unknown>>)
      : undefined
    const write = (params: Fql) => call({ [isCreate ? 'create' : 'update']: target, params })
    const isPartial = field.name.startsWith('partialUpdate')
    const written = this.#writes.document(type.name, inputType, given, input, write, isPartial)
    const whole = letIn([...written.bindings, [document, variable(written.document)]], expression)
    return {
      expression: isCreate ? whole : ifElse(call({ exists: target }), whole, null),
      plan: planned(plan),
    }
  }
}
