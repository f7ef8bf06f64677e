// Compiles selections to expressions of version 4 that read the selected data, and to plans for the response. A document
// without selected relations is returned as it is, and the plan picks its fields. Each relation is read by an expression
// in a slot beside the document.

import type { GraphQLObjectType, GraphQLOutputType, SelectionSetNode } from 'graphql'
import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { OperationError } from '../errors.ts'
import type { DatabaseSchema } from '../schema/database-schema.ts'
import { decodeCursor } from './cursors.ts'
import {
  call,
  type Fql,
  firstOf,
  ifElse,
  lambda,
  letIn,
  map,
  match,
  objectOf,
  select,
  variable,
} from './fql.ts'
import { type ArgumentsOf, argumentsOf, type ParameterInputs, type Parameters } from './parameters.ts'
import {
  documentSlot,
  nonNullLeaf,
  nonNullText,
  type ObjectPlan,
  type Plan,
  type PlanMember,
} from './result-plan.ts'
import type { SelectedField, Selections } from './selections.ts'

/** Number of elements of a page without `_size`. */
const pageSizeDefault = 50n

/** If `isPlain` is true, the expression is the source itself. */
interface CompiledValue {
  readonly expression: Fql
  readonly plan: Plan
  readonly isPlain: boolean
}

export class ReadCompiler {
  readonly #schema: DatabaseSchema
  readonly #selections: Selections
  readonly #parameters: Parameters
  /** The arguments of the pages around the current selections. */
  readonly #pages: ArgumentsOf[] = []
  #names = 0

  constructor(schema: DatabaseSchema, selections: Selections, parameters: Parameters) {
    this.#schema = schema
    this.#selections = selections
    this.#parameters = parameters
  }

  /** Returns a new name of a variable. */
  name(): string {
    return `v${this.#names++}`
  }

  /** `source`: the expression of the value as it is stored or as a function returned it. */
  value(type: GraphQLOutputType, sets: readonly SelectionSetNode[], source: Fql): CompiledValue {
    step()
    const { library } = this.#schema
    if (library.isNonNullType(type)) {
      const inner = this.value(type.ofType, sets, source)
      return { ...inner, plan: { kind: 'non-null', of: inner.plan } }
    }
    if (library.isListType(type)) return this.#list(type.ofType, sets, source)
    if (!library.isObjectType(type))
      return { expression: source, plan: { kind: 'leaf', type: type.name }, isPlain: true }
    if (this.#schema.collections.has(type.name)) return this.#entity(type, sets, source)
    return this.#embedded(type, sets, source)
  }

  #list(element: GraphQLOutputType, sets: readonly SelectionSetNode[], source: Fql): CompiledValue {
    const [list, item] = [this.name(), this.name()]
    const inner = this.value(element, sets, variable(item))
    const plan: Plan = { kind: 'list', of: inner.plan }
    if (inner.isPlain) return { expression: source, plan, isPlain: true }
    const mapped = map(item, inner.expression, variable(list))
    const expression = letIn([[list, source]], ifElse(call({ is_null: variable(list) }), null, mapped))
    return { expression, plan, isPlain: false }
  }

  /** A reference becomes its document, or null if the document is missing. Any other value stays as it is. */
  #entity(type: GraphQLObjectType, sets: readonly SelectionSetNode[], source: Fql): CompiledValue {
    const document = this.name()
    const { expression, plan } = this.document(type, sets, variable(document))
    const read = plan.hasSlots
      ? call({ read_document: source, as: lambda(document, expression) })
      : call({ find_document: source })
    return { expression: read, plan, isPlain: false }
  }

  /** Compiles the selections of a document in a variable. */
  document(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    document: Fql,
  ): { readonly expression: Fql; readonly plan: ObjectPlan } {
    return this.#object(type, sets, document, field => this.#field(type, field, document))
  }

  /** `compile` compiles a selected field of `value`. */
  #object(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    value: Fql,
    compile: (field: SelectedField) => CompiledValue,
  ): { readonly expression: Fql; readonly plan: ObjectPlan } {
    const slots: [string, Fql][] = []
    const members = this.#selections.fields(sets).map((field): PlanMember => {
      const { key, name, node } = field
      const own = this.#ownMember(field, type)
      if (own !== undefined) return own
      const { expression, isPlain, plan } = compile(field)
      if (isPlain) return { key, node, plan, source: { kind: 'field', name } }
      const slot = `s${slots.length}`
      slots.push([slot, expression])
      return { key, node, plan, source: { kind: 'slot', name: slot } }
    })
    const isEntity = this.#schema.collections.has(type.name)
    const hasSlots = slots.length > 0
    const expression = hasSlots ? objectOf([[documentSlot, value], ...slots]) : value
    return { expression, plan: { kind: 'object', isEntity, hasSlots, members } }
  }

  #ownMember({ key, name, node }: SelectedField, type: GraphQLObjectType): PlanMember | undefined {
    if (name === '__typename')
      return { key, node, plan: nonNullText, source: { kind: 'text', text: type.name } }
    if (!this.#schema.collections.has(type.name)) return undefined
    if (name === '_id') return { key, node, plan: nonNullLeaf('ID'), source: { kind: 'id' } }
    if (name === '_ts') return { key, node, plan: nonNullLeaf('Long'), source: { kind: 'ts' } }
    return undefined
  }

  /** Compiles a field of a type with a collection. */
  #field(type: GraphQLObjectType, field: SelectedField, document: Fql): CompiledValue {
    const { name, selectionSets } = field
    const { type: fieldType } = this.#definition(type, name)
    const relation = this.#schema.relations.of.get(`${type.name}.${name}`)
    const own = () => select(['ref'], document)
    const index = (indexName: string) => this.#schema.relationObject('indexes', indexName)
    switch (relation?.kind) {
      case 'opposite one':
        return this.value(fieldType, selectionSets, firstOf(match(index(relation.back.index), [own()])))
      case 'opposite many':
        return this.#relationPage(type, field, match(index(relation.back.index), [own()]))
      case 'links':
        return this.#relationPage(type, field, match(index(relation.links.byOwn), [own()]))
      default:
        return this.value(fieldType, selectionSets, call({ document_field: document, name }))
    }
  }

  #definition(type: GraphQLObjectType, name: string) {
    const field = type.getFields()[name]
    if (field === undefined) throw new Error(`the field ${name} has been validated`)
    return field
  }

  #relationPage(type: GraphQLObjectType, field: SelectedField, set: Fql): CompiledValue {
    const definition = this.#definition(type, field.name)
    const given = argumentsOf(definition, field.node, this.#schema.library)
    return this.page(definition.type, field.selectionSets, this.paginate(set, given), given)
  }

  /** `given`: the arguments `_size` and `_cursor`. */
  paginate(set: Fql, given: ArgumentsOf): Fql {
    const size = this.#parameters.add(source => sizeOf(given(source)))
    const cursor = this.#parameters.add(source => {
      const text = given(source)._cursor
      return typeof text === 'string' ? decodeCursor(text, source.session) : null
    })
    return call({ paginate: set, cursor, size })
  }

  /** `source`: the expression of the page of references or values. `given`: the arguments of the page. */
  page(
    type: GraphQLOutputType,
    sets: readonly SelectionSetNode[],
    source: Fql,
    given: ArgumentsOf,
  ): CompiledValue {
    const { library } = this.#schema
    const pageType = library.getNamedType(type) as GraphQLObjectType
    const fields = this.#selections.fields(sets)
    const dataFields = fields.filter(({ name }) => name === 'data')
    this.#pages.push(given)
    if (this.#pages.length > 1) this.#parameters.check(sizesCheck([...this.#pages]))
    const compiled = this.#pageData(pageType, dataFields)
    this.#pages.pop()
    const members = fields.map(({ key, name, node }): PlanMember => {
      if (name === '__typename')
        return { key, node, plan: nonNullText, source: { kind: 'text', text: pageType.name } }
      const kind = name as 'data' | 'after' | 'before'
      if (kind !== 'data') return { key, node, plan: { kind: 'leaf', type: 'String' }, source: { kind } }
      return { key, node, plan: compiled.planOf(key), source: { kind: 'data' } }
    })
    const plan: Plan = { kind: 'non-null', of: { kind: 'page', members } }
    const page = this.name()
    const mapped = ifElse(
      call({ is_null: variable(page) }),
      null,
      map(compiled.item, compiled.expression, variable(page)),
    )
    return {
      expression: compiled.isPlain ? source : letIn([[page, source]], mapped),
      plan,
      isPlain: false,
    }
  }

  /** Several aliases of `data` are read together: each element is then an object with a slot for each alias. */
  #pageData(pageType: GraphQLObjectType, fields: readonly SelectedField[]) {
    const item = this.name()
    const element = this.#elementType(pageType)
    const all = fields.map(({ key, selectionSets }) => ({
      key,
      ...this.value(element, selectionSets, variable(item)),
    }))
    const listOf = (of: Plan): Plan => ({ kind: 'non-null', of: { kind: 'list', of } })
    const elementPlan = (key: string) => all.find(each => each.key === key)?.plan as Plan
    const planOf = (key: string) => listOf(elementPlan(key))
    const [first] = all
    if (first === undefined || all.every(({ isPlain }) => isPlain))
      return { item, expression: variable(item), isPlain: true, planOf }
    if (all.length === 1) return { item, expression: first.expression, isPlain: false, planOf }
    const slots = all.map(({ expression, key }) => [key, expression] as const)
    return {
      item,
      expression: objectOf(slots),
      isPlain: false,
      planOf: (key: string) => listOf({ kind: 'slot', name: key, of: elementPlan(key) }),
    }
  }

  #elementType(pageType: GraphQLObjectType): GraphQLOutputType {
    const { library } = this.#schema
    const list = library.getNullableType(this.#definition(pageType, 'data').type)
    return library.isListType(list) ? list.ofType : list
  }

  #embedded(type: GraphQLObjectType, sets: readonly SelectionSetNode[], source: Fql): CompiledValue {
    const object = this.name()
    const { expression, plan } = this.#object(type, sets, variable(object), ({ name, selectionSets }) =>
      this.value(this.#definition(type, name).type, selectionSets, select([name], variable(object))),
    )
    if (!plan.hasSlots) return { expression: source, plan, isPlain: true }
    const whole = ifElse(call({ is_object: variable(object) }), expression, null)
    return { expression: letIn([[object, source]], whole), plan, isPlain: false }
  }
}

/** The number of compute units that an operation may use; each element of a page takes at least one. */
const elementsMax = limits.computeOpsMax * limits.computeUnitsPerOp

/**
 * Returns a check of the product of the given sizes of nested pages. Pages without a size do not count: most are not
 * full.
 */
function sizesCheck(pages: readonly ArgumentsOf[]): (source: ParameterInputs) => void {
  return source => {
    let elements = 1
    for (const given of pages) {
      const { _size } = given(source)
      if (typeof _size === 'number') elements *= Math.min(Math.max(_size, 1), limits.queryWidthMax)
    }
    if (elements > elementsMax)
      throw OperationError.invalid(
        msg`The nested pages have up to ${elements} elements. Max: ${elementsMax}. Use smaller values of _size.`,
      )
  }
}

export function sizeOf({ _size }: Readonly<Record<string, unknown>>): bigint {
  return typeof _size === 'number' ? BigInt(_size) : pageSizeDefault
}
