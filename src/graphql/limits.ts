// Limits of documents and schemas, checked before the library validates a document. The library counts nothing itself,
// and compares every two fields with the same response name.

import type { FieldNode, FragmentDefinitionNode, OperationDefinitionNode, SelectionSetNode } from 'graphql'
import { step } from '../base/effort.ts'
import { upsert } from '../base/upsert.ts'
import { OperationError } from './errors.ts'
import type { Library } from './library.ts'
import { tokensOf } from './text/tokens.ts'

export const graphqlLimits = {
  /** Maximum number of tokens of a GraphQL document; own limit. */
  documentTokensMax: 10_000,
  /** Maximum number of nested brackets in a GraphQL document or schema; own limit: protects the native stack. */
  nestingMax: 100,
  /** Maximum depth of the selections of an operation, with its fragments; own limit. */
  selectionDepthMax: 20,
  /** Maximum number of selected fields of an operation, with its fragments; own limit. */
  selectedFieldsMax: 5000,
  /** Maximum number of fields with the same response name in one selection; own limit. */
  responseNameRepeatsMax: 100,
  /** Maximum number of aliases of an operation, with its fragments; own limit. */
  aliasesMax: 500,
  /** Maximum number of `__schema` and `__type` fields of an operation; own limit. */
  introspectionsMax: 10,
  /** Number of characters of a document above which a new document is validated in the slow lane; own limit. */
  newDocumentUnits: 2048,
  /** Maximum number of validation errors in a response; own limit. */
  validationErrorsMax: 20,
  /** Maximum number of characters of a GraphQL schema; own limit. */
  sdlUnitsMax: 1_048_576,
  /** Maximum number of tokens of a GraphQL schema; own limit. */
  sdlTokensMax: 50_000,
  /** Maximum number of characters of a name in a GraphQL schema; own limit. */
  schemaNameCharsMax: 128,
  /** Maximum number of nested relations in the input of a mutation; own limit. */
  inputDepthMax: 20,
} as const

const openers = '{[('
const closers = '}])'

/** `fail` creates the error. */
export function checkText(text: string, tokensMax: number, fail: (message: string) => Error): void {
  let tokens = 0
  let depth = 0
  for (const { end, start } of tokensOf(text)) {
    if (++tokens > tokensMax) throw fail(`The document has too many tokens. Max: ${tokensMax}.`)
    if (end !== start + 1) continue
    const character = text[start] as string
    if (openers.includes(character)) depth++
    else if (closers.includes(character)) depth--
    if (depth > graphqlLimits.nestingMax)
      throw fail(`The document is nested too deeply. Max: ${graphqlLimits.nestingMax} levels.`)
  }
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

export function fragmentsByName(fragments: readonly FragmentDefinitionNode[]): Fragments {
  return new Map(fragments.map(fragment => [fragment.name.value, fragment]))
}

/**
 * Also checks fragments that no operation reaches, because validation compares their fields, too. The walk merges fields
 * with the same response name, as evaluation does, and ends at cycles of fragments.
 */
export function checkSelections(
  operations: readonly OperationDefinitionNode[],
  fragments: readonly FragmentDefinitionNode[],
  library: Library,
): void {
  const byName = fragmentsByName(fragments)
  const reached = new Set<string>()
  const check = (set: SelectionSetNode) =>
    new OperationWalk(byName, library, reached).selections([{ node: set, open: new Set() }], 1)
  for (const { selectionSet } of operations) check(selectionSet)
  for (const fragment of fragments) {
    const { name, selectionSet } = fragment
    if (!reached.has(name.value) || byName.get(name.value) !== fragment) check(selectionSet)
  }
}

/** A part of a selection. `open`: the fragments around this part, which it must not spread again. */
interface Part<Node> {
  readonly node: Node
  readonly open: ReadonlySet<string>
}

/** Selected fields by response name. */
type SelectedFields = Map<string, Part<FieldNode>[]>

class OperationWalk {
  readonly #fragments: Fragments
  readonly #library: Library
  readonly #reached: Set<string>
  #fields = 0
  #aliases = 0
  #introspections = 0

  /** `reached`: gets the names of the fragments that the walk reaches. */
  constructor(fragments: Fragments, library: Library, reached: Set<string>) {
    this.#fragments = fragments
    this.#library = library
    this.#reached = reached
  }

  selections(sets: readonly Part<SelectionSetNode>[], depth: number): void {
    if (depth > graphqlLimits.selectionDepthMax)
      throw OperationError.invalid(
        `The selections are nested too deeply. Max: ${graphqlLimits.selectionDepthMax} levels.`,
      )
    const fields: SelectedFields = new Map()
    for (const { node, open } of sets) this.#collect(node, fields, open)
    for (const [name, parts] of fields) {
      if (parts.length > graphqlLimits.responseNameRepeatsMax)
        throw OperationError.invalid(
          `The field '${name}' is selected too often. Max: ${graphqlLimits.responseNameRepeatsMax} times.`,
        )
      const inner = parts.flatMap(({ node: { selectionSet }, open }) =>
        selectionSet === undefined ? [] : [{ node: selectionSet, open }],
      )
      if (inner.length > 0) this.selections(inner, depth + 1)
    }
  }

  #collect({ selections }: SelectionSetNode, fields: SelectedFields, open: ReadonlySet<string>): void {
    const { Kind } = this.#library
    for (const selection of selections) {
      step()
      // Fragments without fields count, too, because each of them costs as much as a field.
      if (++this.#fields > graphqlLimits.selectedFieldsMax)
        throw OperationError.invalid(
          `The operation selects too many fields. Max: ${graphqlLimits.selectedFieldsMax}.`,
        )
      if (selection.kind === Kind.FIELD) this.#field(selection, fields, open)
      else if (selection.kind === Kind.INLINE_FRAGMENT) this.#collect(selection.selectionSet, fields, open)
      else {
        const name = selection.name.value
        const fragment = this.#fragments.get(name)
        this.#reached.add(name)
        if (fragment !== undefined && !open.has(name))
          this.#collect(fragment.selectionSet, fields, new Set(open).add(name))
      }
    }
  }

  #field(node: FieldNode, fields: SelectedFields, open: ReadonlySet<string>): void {
    const name = node.name.value
    const { aliasesMax, introspectionsMax } = graphqlLimits
    if (node.alias !== undefined && ++this.#aliases > aliasesMax)
      throw OperationError.invalid(`The operation has too many aliases. Max: ${aliasesMax}.`)
    if ((name === '__schema' || name === '__type') && ++this.#introspections > introspectionsMax)
      throw OperationError.invalid(
        `The operation reads the schema too often. Max: ${introspectionsMax} times.`,
      )
    const key = node.alias?.value ?? name
    upsert(fields, key, () => []).push({ node, open })
  }
}
