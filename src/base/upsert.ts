// Looks up a value in a map, and creates a missing value. Accepts no other kinds of caches, because V8 inlines `get` only if
// all callers have the same kind, and some callers are in hot paths.

export function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}
