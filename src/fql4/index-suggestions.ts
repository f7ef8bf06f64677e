// Suggests an index for each filter that reads all documents of a collection, such as `Filter(
// Documents(Collection("orders")), Lambda("ref", Equals(Select(["data", "status"], Get(Var("ref"))), "open")))`. Also
// suggests indexes for filters over pages of these documents. The code of stored functions is not analyzed.

import type { Path } from '../model/schema/paths.ts'
import { type IndexSuggestion, indexNameFor } from '../model/use-recorders.ts'
import type { Json } from '../values/value.ts'

/** Returns the suggestions in the order of the filters in the query. */
export function indexSuggestionsOf(query: Json): readonly IndexSuggestion[] {
  const suggestions: IndexSuggestion[] = []
  walk(query, form => {
    const lambda = form.get('filter')
    const collection = collectionOf(form.get('collection'))
    const terms = lambda === undefined ? [] : termsOf(lambda)
    if (collection !== undefined && terms.length > 0) suggestions.push(suggestionOf(collection, terms))
  })
  return suggestions
}

function walk(json: Json, visit: (form: ReadonlyMap<string, Json>) => void): void {
  if (json instanceof Map) {
    visit(json)
    for (const member of json.values()) walk(member, visit)
  } else if (Array.isArray(json)) for (const element of json) walk(element, visit)
}

function member(json: Json | undefined, name: string): Json | undefined {
  return json instanceof Map ? json.get(name) : undefined
}

/**
 * Returns the collection if `set` is a call of `documents`, a page of such a call, or a `map` over the call or page.
 * Returns undefined for other sets.
 */
function collectionOf(set: Json | undefined): string | undefined {
  if (member(set, 'paginate') !== undefined) return collectionOf(member(set, 'paginate'))
  if (member(set, 'map') !== undefined) return collectionOf(member(set, 'collection'))
  const name = member(member(set, 'documents'), 'collection')
  return typeof name === 'string' ? name : undefined
}

/** Finds only comparisons for equality that are the body of the lambda, or that `and` joins in the body. */
function termsOf(lambda: Json): readonly Path[] {
  const parameter = member(lambda, 'lambda')
  return typeof parameter === 'string' ? conditionsOf(member(lambda, 'expr'), parameter) : []
}

function conditionsOf(condition: Json | undefined, parameter: string): readonly Path[] {
  const all = member(condition, 'and')
  if (Array.isArray(all)) return all.flatMap(each => conditionsOf(each, parameter))
  const sides = member(condition, 'equals')
  if (!Array.isArray(sides) || sides.length !== 2) return []
  const [first, ...others] = sides.flatMap(side => pathOf(side, parameter) ?? [])
  return first === undefined || others.length > 0 ? [] : [first.path]
}

/** A filter by the reference needs no index. The result is an object, because `flatMap` would flatten the path. */
function pathOf(side: Json, parameter: string): { readonly path: Path } | undefined {
  const path = member(side, 'select')
  const from = member(side, 'from')
  const readsParameter = member(member(from, 'get') ?? from, 'var') === parameter
  const isPath = (steps: Json | undefined): steps is (string | bigint)[] =>
    Array.isArray(steps) && steps.every(step => typeof step === 'string' || typeof step === 'bigint')
  return readsParameter && isPath(path) && path[0] !== 'ref' ? { path } : undefined
}

function suggestionOf(collection: string, terms: readonly Path[]): IndexSuggestion {
  const quoted = (step: string | bigint) => (typeof step === 'string' ? JSON.stringify(step) : String(step))
  const fields = terms.map(path => `{ field: [${path.map(quoted).join(', ')}] }`)
  const name = JSON.stringify(`${collection}_${indexNameFor(terms)}`)
  const source = `Collection(${JSON.stringify(collection)})`
  return {
    collection,
    terms,
    values: [],
    isOwn: false,
    definition: `CreateIndex({ name: ${name}, source: ${source}, terms: [${fields.join(', ')}] })`,
  }
}
