// Parsed bodies of functions and predicates, remembered by their text and by what errors call it.

import { GenerationCache } from '../../base/generation-cache.ts'
import type { LambdaNode } from '../syntax/nodes.ts'
import { parseLambda } from '../syntax/parse.ts'
import { Source } from '../syntax/source.ts'

/** A body as it can be evaluated. */
export interface Body {
  readonly node: LambdaNode
  readonly source: Source
}

/** UTF-16 units of the texts that are remembered. */
const rememberedUnitsMax = 4_194_304

const remembered = new GenerationCache<string, Body>(
  rememberedUnitsMax,
  ({ source }) => 64 + source.text.length,
)

/** The lambda that a text is; `name` is what places in it are in: `*udf:f*`. Throws a QueryFailure for any other text. */
export function bodyOf(text: string, name: string): Body {
  const key = `${name} ${text}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  const source = new Source(name, text)
  const body = { node: parseLambda(source), source }
  remembered.set(key, body)
  return body
}
