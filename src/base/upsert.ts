// Maps whose values are created when they are first asked for.

/** The value of a key, which is created if missing. */
export function upsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}
