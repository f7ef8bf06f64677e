// Parsed queries, remembered by their text: drivers send the same template again with other values.

import { GenerationCache } from '../base/generation-cache.ts'
import { type Program, treeBytesPerUnit } from './syntax/nodes.ts'
import { parseQuery } from './syntax/parse.ts'
import { Source } from './syntax/source.ts'
import type { ComposedQuery } from './syntax/template.ts'

/** Bytes of the trees that are remembered, at most, and from how many UTF-16 units on a text is too long for that. */
const rememberedBytesMax = 33_554_432
const longUnits = 65_536

const remembered = new GenerationCache<string, Program>(
  rememberedBytesMax,
  ({ source }) => (64 + source.text.length) * treeBytesPerUnit,
)

/** The tree of a query. Throws a QueryFailure for one that cannot be parsed. */
export function programOf({ text, placeholders }: ComposedQuery): Program {
  // The places of values are part of what is remembered: `<value>` can also be written.
  const key = placeholders.length === 0 ? text : `${placeholders.join()} ${text}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  const program = parseQuery(new Source('*query*', text), placeholders)
  if (text.length < longUnits) remembered.set(key, program)
  return program
}
