// Finds what a computed field of an index or a unique constraint must not use: functions and collections of the schema,
// other computed fields, other documents, and times and ids that differ between evaluations. A field with such a use
// has no value in entries. Databases with static types reject only some of these fields, as in the hosted service.

import { msg } from '../../base/message.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import { type CollectionItem, ofKind } from '../schema/fsl/schema-items.ts'
import type { LambdaNode, Link, Node, NodeRange } from '../syntax/nodes.ts'
import { childrenOf } from '../syntax/slices.ts'
import type { Span } from '../syntax/source.ts'
import { lambdaIn } from './schema-types.ts'

/** Computed fields of indexes cannot use these names of the schema. */
export interface SchemaNames {
  readonly functions: ReadonlySet<string>
  readonly collections: ReadonlySet<string>
}

/** A part of a computed field that keeps the field out of the entries of indexes. */
interface UnindexableUse {
  readonly field: string
  /** The forbidden action, after the word "cannot". */
  readonly what: string
  readonly span: Span
  /** True if databases with static types reject the field. */
  readonly isRejected: boolean
}

/** True if the stored fields in `path` lead to a reference. */
type IsReference = (path: readonly string[]) => boolean

/** Checks the computed fields that indexes and unique constraints of a collection contain. */
export function indexedFaults(item: CollectionItem, names: SchemaNames): readonly Diagnostic[] {
  return unindexableUses(item, names, () => false).flatMap(({ isRejected, span, what }) => {
    const message = msg`Computed fields used in indexes or constraints cannot ${what}`
    return isRejected ? [{ name: 'error', message, span }] : []
  })
}

/** Finds also uses that databases with static types accept. */
export function unindexableUses(
  item: CollectionItem,
  names: SchemaNames,
  isReference: IsReference,
): readonly UnindexableUse[] {
  const computed = new Map(ofKind(item.members, 'computed').map(each => [each.name.text, each]))
  const paths = item.members.flatMap(member => {
    if (member.kind === 'unique') return member.paths
    return member.kind === 'index' ? member.members.flatMap(part => part.paths) : []
  })
  const used = new Set(paths.map(({ path }) => path[0]))
  const uses: UnindexableUse[] = []
  for (const [field, { body }] of computed) {
    if (!used.has(field)) continue
    const add = (what: string, { start, end }: NodeRange, isRejected: boolean) =>
      uses.push({ field, what, span: { source: item.source, start, end }, isRejected })
    new Finder({ ...names, computed: new Set(computed.keys()), isReference }, add).lambda(lambdaIn(body))
  }
  return uses
}

type Names = ReadonlySet<string>

interface FieldNames extends SchemaNames {
  readonly computed: Names
  readonly isReference: IsReference
}

/** These functions give another result in each evaluation. */
const unstableCalls: ReadonlyMap<string, string> = new Map([
  ['Time.now', 'use the current time'],
  ['newId', 'create ids'],
])

class Finder {
  readonly #names: FieldNames
  readonly #add: (what: string, range: NodeRange, isRejected: boolean) => void
  #document = ''

  constructor(names: FieldNames, add: (what: string, range: NodeRange, isRejected: boolean) => void) {
    this.#names = names
    this.#add = add
  }

  lambda({ body, parameters }: LambdaNode): void {
    this.#document = parameters[0] ?? ''
    this.#visit(body, new Set(), true)
  }

  #fault(what: string, range: NodeRange): void {
    this.#add(what, range, true)
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
      case 'chain':
        visit(node.operand)
        if (node.operand.kind === 'name') {
          const { name } = node.operand
          if (isDocument && name === this.#document) {
            this.#field(node.links[0])
            this.#reference(node.links)
          } else if (!locals.has(name)) this.#unstable(name, node.links, node)
        }
        for (const link of node.links) if ('arguments' in link) link.arguments.forEach(visit)
        break
      default:
        childrenOf(node).forEach(visit)
    }
  }

  #field(link: Link | undefined): void {
    if (link?.kind !== 'field') return
    const range = { start: link.nameStart, end: link.end }
    if (link.name === 'ts') this.#fault("use a doc's ts field", range)
    else if (this.#names.computed.has(link.name)) this.#fault('use computed fields', range)
  }

  /** Finds a field after a reference in the links of the document, such as `.name` in `.author!.name`. */
  #reference(links: readonly Link[]): void {
    const path: string[] = []
    for (const link of links) {
      if (link.kind === 'assert') continue
      // The id is part of the reference.
      if (link.kind !== 'field' || link.name === 'id') return
      if (path.length > 0 && this.#names.isReference(path)) {
        this.#add('read other documents', { start: link.nameStart, end: link.end }, false)
        return
      }
      path.push(link.name)
    }
  }

  #unstable(name: string, [first]: readonly Link[], range: NodeRange): void {
    const called = first?.kind === 'method' ? `${name}.${first.name}` : first?.kind === 'call' ? name : ''
    const what = unstableCalls.get(called)
    if (what !== undefined) this.#add(what, range, false)
  }
}
