// Lookup in a map that creates missing values.

/** The value of a key. `make` creates it if it is missing. */
export function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}
