// Finds functions by their wire keys (the keys of a call in JSON): the exact set of keys determines the called
// function.

import { assert } from '../../base/assert.ts'
import type { FunctionDefinition, FunctionFamily } from '../definition.ts'
import type { FunctionLookup } from '../parse-query.ts'
import { provideFunctions } from '../stored-code.ts'
import { apiVersions, isAtLeast } from '../wire/version.ts'
import { aggregates } from './aggregates.ts'
import { basic, calls, logic } from './basic.ts'
import { collections } from './collections.ts'
import { comparison } from './comparison.ts'
import { conversions } from './conversions.ts'
import { documents } from './documents.ts'
import { format } from './format.ts'
import { identity } from './identity.ts'
import { nativeCollections } from './native-collections.ts'
import { bits, numbers, trigonometry } from './numbers.ts'
import { objects } from './objects.ts'
import { pagination } from './pagination.ts'
import { references } from './references.ts'
import { regularExpressions } from './regular-expressions.ts'
import { schema } from './schema.ts'
import { literalForms, sets } from './sets.ts'
import { strings } from './strings.ts'
import { time } from './time.ts'
import { types } from './types.ts'

/** All families, in the order of docs/reference/functions.md. */
export const families: readonly FunctionFamily[] = [
  basic,
  calls,
  logic,
  comparison,
  numbers,
  trigonometry,
  bits,
  strings,
  regularExpressions,
  format,
  time,
  conversions,
  types,
  collections,
  aggregates,
  objects,
  references,
  nativeCollections,
  sets,
  pagination,
  documents,
  schema,
  identity,
]

/** Maximum number of cached key sequences. Without this limit, clients could fill the memory. */
const seenMax = 4096

class KeyTable {
  /** Definitions by sorted keys. A function that differs between API versions has several definitions. */
  readonly #bySignature = new Map<string, FunctionDefinition[]>()
  /** A cache: definitions by keys in the order of a query. */
  readonly #seen = new Map<string, readonly FunctionDefinition[]>()

  constructor(definitions: readonly FunctionDefinition[]) {
    for (const definition of definitions) {
      for (const signature of signaturesOf(definition)) this.#add(signature, definition)
    }
  }

  find(keys: Iterable<string>, apiVersion: string): FunctionDefinition | undefined {
    let asGiven: string | undefined
    for (const key of keys) {
      // The keys are joined with newlines, and no function has a key with a newline.
      if (key.includes('\n')) return undefined
      asGiven = asGiven === undefined ? key : `${asGiven}\n${key}`
    }
    if (asGiven === undefined) return undefined
    const definitions = this.#seen.get(asGiven) ?? this.#search(asGiven)
    if (definitions === undefined) return undefined
    for (const each of definitions) if (isIn(each, apiVersion)) return each
    return undefined
  }

  #add(signature: string, definition: FunctionDefinition): void {
    const others = this.#bySignature.get(signature) ?? []
    const both = apiVersions.find(version =>
      others.some(other => isIn(other, version) && isIn(definition, version)),
    )
    assert(both === undefined, `two functions take the keys ${signature} in version ${both}`)
    this.#bySignature.set(signature, [...others, definition])
  }

  #search(asGiven: string): readonly FunctionDefinition[] | undefined {
    const definitions = this.#bySignature.get(asGiven.split('\n').sort().join('\n'))
    if (definitions && this.#seen.size < seenMax) this.#seen.set(asGiven, definitions)
    return definitions
  }
}

function isIn({ since, until }: FunctionDefinition, apiVersion: string): boolean {
  return isAtLeast(apiVersion, since) && !(until && isAtLeast(apiVersion, until))
}

/** Returns the sorted required keys with every subset of the optional keys. */
function signaturesOf(definition: FunctionDefinition): string[] {
  let sets: string[][] = [[]]
  for (const key of definition.keys) {
    const added = sets.map(set => [...set, key])
    sets = definition.arguments[key]?.optional ? [...sets, ...added] : added
  }
  return sets.map(set => set.sort().join('\n'))
}

const functions = new KeyTable(families.flatMap(each => each.definitions))
const setLiterals = new KeyTable(literalForms)

export const registry: FunctionLookup = {
  find: (keys, apiVersion) => functions.find(keys, apiVersion),
  findSet: (keys, apiVersion) => setLiterals.find(keys, apiVersion),
}

provideFunctions(registry)
