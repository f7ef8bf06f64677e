// Parsed bodies of functions and predicates, remembered by their text and by what errors call it.

import { GenerationCache } from '../../base/generation-cache.ts'
import { type LambdaNode, treeBytesPerUnit } from '../syntax/nodes.ts'
import { parseLambda } from '../syntax/parse.ts'
import { Source } from '../syntax/source.ts'

/** A body as it can be evaluated. */
export interface Body {
  readonly node: LambdaNode
  readonly source: Source
}

/** Bytes of the trees that are remembered, at most. */
const rememberedBytesMax = 33_554_432

const remembered = new GenerationCache<string, Body>(
  rememberedBytesMax,
  ({ source }) => (64 + source.text.length) * treeBytesPerUnit,
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
