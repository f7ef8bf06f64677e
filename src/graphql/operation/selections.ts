// Collects the selected fields of a type: resolves fragments and directives, and merges fields with the same response
// name.

import type { DirectiveNode, FieldNode, SelectionSetNode, ValueNode } from 'graphql'
import { step } from '../../base/effort.ts'
import { upsert } from '../../base/upsert.ts'
import type { Library } from '../library.ts'
import type { Fragments } from '../limits.ts'

/** The variables of a request, before or after their coercion. */
export type Variables = Readonly<Record<string, unknown>>

/**
 * A field of the response, which one or more nodes of the operation select. Validation ensures that all these nodes
 * have the same name and the same arguments. `node` is the first of the nodes.
 */
export interface SelectedField {
  /** The name of the field in the response. */
  readonly key: string
  readonly name: string
  readonly node: FieldNode
  readonly selectionSets: readonly SelectionSetNode[]
}

export class Selections {
  readonly #fragments: Fragments
  readonly #variables: Variables
  readonly #library: Library

  constructor(fragments: Fragments, variables: Variables, library: Library) {
    this.#fragments = fragments
    this.#variables = variables
    this.#library = library
  }

  /** Returns the selected fields in the order of the response. */
  fields(sets: readonly SelectionSetNode[]): readonly SelectedField[] {
    const found = new Map<string, FieldNode[]>()
    for (const set of sets) this.#collect(set, found)
    return Array.from(found, ([key, nodes]) => {
      const [node] = nodes as [FieldNode]
      const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      return { key, name: node.name.value, node, selectionSets }
    })
  }

  #collect({ selections }: SelectionSetNode, found: Map<string, FieldNode[]>): void {
    const { Kind } = this.#library
    for (const selection of selections) {
      step()
      if (!this.#isIncluded(selection.directives)) continue
      // The type conditions of fragments are not tested: without interfaces and unions in the schema, a valid document
      // contains only fragments whose types match.
      if (selection.kind === Kind.INLINE_FRAGMENT) this.#collect(selection.selectionSet, found)
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.#fragments.get(selection.name.value)
        if (fragment !== undefined) this.#collect(fragment.selectionSet, found)
      } else {
        const key = selection.alias?.value ?? selection.name.value
        upsert(found, key, () => []).push(selection)
      }
    }
  }

  #isIncluded(directives: readonly DirectiveNode[] | undefined): boolean {
    for (const { arguments: given = [], name } of directives ?? []) {
      if (name.value !== 'include' && name.value !== 'skip') continue
      const condition = given.find(argument => argument.name.value === 'if')
      const isTrue = condition !== undefined && this.#flag(condition.value)
      if (isTrue !== (name.value === 'include')) return false
    }
    return true
  }

  #flag(value: ValueNode): boolean {
    const { Kind } = this.#library
    if (value.kind === Kind.BOOLEAN) return value.value
    return value.kind === Kind.VARIABLE && this.#variables[value.name.value] === true
  }
}
