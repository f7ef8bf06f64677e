// Caches parsed queries by their text, because drivers send the same template again with other values.

import { GenerationCache } from '../base/generation-cache.ts'
import { type Program, treeBytesPerUnit } from './syntax/nodes.ts'
import { parseQuery } from './syntax/parse-query.ts'
import { Source } from './syntax/source.ts'
import type { ComposedQuery } from './syntax/template.ts'

/** Upper bound for the cached trees in bytes. Texts of `longUnits` UTF-16 units and above are not cached. */
const cachedBytesMax = 33_554_432
const longUnits = 65_536

const cache = new GenerationCache<string, Program>(
  cachedBytesMax,
  ({ source }) => (64 + source.text.length) * treeBytesPerUnit,
)

/** The tree of a query. Throws a QueryFailure if the query cannot be parsed. */
export function programOf({ text, placeholders }: ComposedQuery): Program {
  // The placeholder positions are part of the key, because a client can also write `<value>` in its text.
  const key = placeholders.length === 0 ? text : `${placeholders.join()} ${text}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const program = parseQuery(new Source('*query*', text), placeholders)
  if (text.length < longUnits) cache.set(key, program)
  return program
}
