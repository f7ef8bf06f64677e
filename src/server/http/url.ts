// Reads the path and the query parameters of a request target. Paths stay encoded, because the protocol compares
// encoded paths.

/** `/` for an empty path. The target may be an absolute URL from a proxy. */
export function pathOf(target: string): string {
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  if (path.startsWith('/')) return path
  const authority = path.indexOf('://')
  if (authority < 0) return path === '' ? '/' : path
  const start = path.indexOf('/', authority + '://'.length)
  return start < 0 ? '/' : path.slice(start)
}

/**
 * Returns the first value of the parameter, if any. `+` is decoded as a space. If any parameter contains an invalid
 * escape, all parameters are treated as missing.
 */
export function queryParameter(target: string, name: string): string | undefined {
  return parametersOf(target).get(name)
}

/** Decodes parameters like {@link queryParameter}, which also takes the first value. */
export function parametersOf(target: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const start = target.indexOf('?')
  if (start < 0) return found
  try {
    for (const pair of target.slice(start + 1).split('&')) {
      const equals = pair.indexOf('=')
      const key = decodePart(equals < 0 ? pair : pair.slice(0, equals))
      const value = equals < 0 ? '' : decodePart(pair.slice(equals + 1))
      if (!found.has(key)) found.set(key, value)
    }
  } catch (error) {
    if (error instanceof URIError) return new Map()
    throw error
  }
  return found
}

function decodePart(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
