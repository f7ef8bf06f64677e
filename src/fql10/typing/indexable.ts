// Finds what a computed field must not use if an index or a unique constraint contains it: functions and collections of
// the schema, other computed fields, and the time of the document.

import { msg } from '../../base/message.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import { type CollectionItem, ofKind } from '../schema/fsl/schema-items.ts'
import type { LambdaNode, Link, Node } from '../syntax/nodes.ts'
import type { Source } from '../syntax/source.ts'
import { lambdaIn } from './schema-types.ts'

interface SchemaNames {
  readonly functions: ReadonlySet<string>
  readonly collections: ReadonlySet<string>
}

/** The faults of the computed fields that indexes and unique constraints of a collection contain. */
export function indexedFaults(item: CollectionItem, names: SchemaNames): readonly Diagnostic[] {
  const computed = new Map(ofKind(item.members, 'computed').map(each => [each.name.text, each]))
  const paths = item.members.flatMap(member => {
    if (member.kind === 'unique') return member.paths
    return member.kind === 'index' ? member.members.flatMap(part => part.paths) : []
  })
  const used = new Set(paths.map(({ path }) => path[0]))
  const errors: Diagnostic[] = []
  for (const [name, { body }] of computed) {
    if (used.has(name))
      new Finder(item.source, names, new Set(computed.keys()), errors).lambda(lambdaIn(body))
  }
  return errors
}

type Names = ReadonlySet<string>

/** Finds the faults of one computed field. */
class Finder {
  readonly #source: Source
  readonly #names: SchemaNames
  readonly #computed: Names
  readonly #errors: Diagnostic[]
  #document = ''

  constructor(source: Source, names: SchemaNames, computed: Names, errors: Diagnostic[]) {
    this.#source = source
    this.#names = names
    this.#computed = computed
    this.#errors = errors
  }

  lambda({ body, parameters }: LambdaNode): void {
    this.#document = parameters[0] ?? ''
    this.#visit(body, new Set(), true)
  }

  #fault(what: string, { start, end }: { readonly start: number; readonly end: number }): void {
    const message = msg`Computed fields used in indexes or constraints cannot ${what}`
    this.#errors.push({ name: 'error', message, span: { source: this.#source, start, end } })
  }

  /** `locals`: the names that are declared around the node. `isDocument`: the parameter's name means the document. */
  #visit(node: Node, locals: Names, isDocument: boolean): void {
    const visit = (inner: Node) => this.#visit(inner, locals, isDocument)
    switch (node.kind) {
      case 'name':
        if (locals.has(node.name) || (isDocument && node.name === this.#document)) break
        if (this.#names.collections.has(node.name)) this.#fault('access collections', node)
        else if (this.#names.functions.has(node.name)) this.#fault('call UDFs', node)
        break
      case 'template':
        for (const part of node.parts) if (typeof part !== 'string') visit(part)
        break
      case 'array':
        node.elements.forEach(visit)
        break
      case 'group':
        visit(node.inner)
        break
      case 'object':
        for (const [, value] of node.fields) visit(value)
        break
      case 'block': {
        let inner = new Set(locals)
        let isOwn = isDocument
        for (const statement of node.statements) {
          if (statement.kind !== 'let') this.#visit(statement, inner, isOwn)
          else {
            this.#visit(statement.value, inner, isOwn)
            inner = new Set([...inner, statement.name])
            isOwn &&= statement.name !== this.#document
          }
        }
        break
      }
      case 'lambda': {
        const own = [...node.parameters, ...(node.rest === undefined ? [] : [node.rest])]
        this.#visit(node.body, new Set([...locals, ...own]), isDocument && !own.includes(this.#document))
        break
      }
      case 'if':
        visit(node.condition)
        visit(node.then)
        if (node.otherwise !== undefined) visit(node.otherwise)
        break
      case 'at':
        visit(node.time)
        visit(node.body)
        break
      case 'unary':
        visit(node.operand)
        break
      case 'binary':
        visit(node.left)
        visit(node.right)
        break
      case 'chain':
        visit(node.operand)
        if (isDocument && node.operand.kind === 'name' && node.operand.name === this.#document) {
          this.#field(node.links[0])
        }
        for (const link of node.links) if ('arguments' in link) link.arguments.forEach(visit)
        break
      case 'projection':
        visit(node.operand)
        for (const { value } of node.fields ?? []) visit(value)
        break
    }
  }

  #field(link: Link | undefined): void {
    if (link?.kind !== 'field') return
    const place = { start: link.nameStart, end: link.end }
    if (link.name === 'ts') this.#fault("use a doc's ts field", place)
    else if (this.#computed.has(link.name)) this.#fault('use computed fields', place)
  }
}
