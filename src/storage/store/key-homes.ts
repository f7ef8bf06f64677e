// The databases that have a key with an id. A secret contains only the id of its key, and ids of keys are unique only
// within a database. So several databases may have a key with this id; the hash determines which of these keys the
// secret belongs to.

import type { DatabaseId, Ref } from '../../values/value.ts'
import { keyHomeKey } from '../keys/keyspace.ts'
import type { Bytes } from '../kv/contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { idAt } from './records.ts'

const idBytes = 8

/** The databases in a stored row, the first one to have the key first; empty without a row. */
export function decodeHomes(stored: Bytes | undefined): DatabaseId[] {
  if (stored === undefined) return []
  return Array.from({ length: stored.length / idBytes }, (_, at) => idAt(stored, at * idBytes))
}

function encodeHomes(databases: readonly DatabaseId[]): Uint8Array {
  const bytes = new Uint8Array(databases.length * idBytes)
  const view = new DataView(bytes.buffer)
  for (const [at, database] of databases.entries()) view.setBigUint64(at * idBytes, database)
  return bytes
}

/** Records that a key exists. */
export function addHome(overlay: Overlay, key: Ref, journal?: Journal): void {
  const homes = decodeHomes(overlay.get(keyHomeKey(key.id)))
  if (homes.includes(key.database)) return
  overlay.set(keyHomeKey(key.id), encodeHomes([...homes, key.database]), journal)
}

/** Records that a key was deleted. */
export function removeHome(overlay: Overlay, key: Ref, journal?: Journal): void {
  const homes = decodeHomes(overlay.get(keyHomeKey(key.id)))
  const rest = homes.filter(database => database !== key.database)
  if (rest.length === homes.length) return
  overlay.set(keyHomeKey(key.id), rest.length === 0 ? undefined : encodeHomes(rest), journal)
}
