// Looks up a value in a map or a cache, and creates a missing value.

interface Lookup<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

export function upsert<K, V>(map: Lookup<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}
