// Caches the parsed bodies of functions, predicates and computed fields. The cache key consists of the text of a body
// and the source name that errors show.

import { GenerationCache } from '../../base/generation-cache.ts'
import { type LambdaNode, treeBytes } from '../syntax/nodes.ts'
import { parseLambda } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'

export interface Body {
  readonly node: LambdaNode
  readonly source: Source
}

/** Maximum total size of the cached syntax trees, in bytes. */
const cachedBytesMax = 33_554_432

const cache = new GenerationCache<string, Body>(cachedBytesMax, ({ source }) => treeBytes(source))

/** Error positions show `name`, such as `*udf:f*`. Throws a QueryFailure if the text is not a lambda. */
export function bodyOf(text: string, name: string): Body {
  const key = `${name} ${text}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const source = new Source(name, text)
  const body = { node: parseLambda(source), source }
  cache.set(key, body)
  return body
}
