// Distributes keys over the trees of LMDB. LMDB splits a full page in half, but keeps the page full if the new key is
// greater than all keys of the page. Most rows are written in runs of ascending keys: documents by id, events and
// changes by time. If several runs share a tree, each run grows in the middle of the tree, and its splits leave pages
// half empty. So different kinds of rows are in different trees. The collections or indexes of a large kind are spread
// over several trees, and all rows of one collection or index are in the same tree.
//
// The mapping of keys to trees is part of the data format: a change needs a new layout (folder.ts). The numbers below
// repeat tags and lengths of keys (storage/keys/keyspace.ts), which this layer does not import.

import type { Database } from 'lmdb'
import type { Bytes, KeyRange } from '../kv/kv-contract.ts'

/** A tree of LMDB. */
export type ByteDatabase = Database<Bytes, Bytes>

/**
 * Keys with the same first byte, the tag. They form groups: the keys of a group begin with the same tag, database, and
 * collection or index.
 */
interface Kind {
  readonly tag: number
  /** The bytes at the start of a key that identify its group. If undefined, all keys of the kind are in one tree. */
  readonly groupBytes?: number
}

const documentGroupBytes = 11
const indexGroupBytes = 13

const kinds: readonly Kind[] = [
  { tag: 0x43 }, // change log
  { tag: 0x44, groupBytes: documentGroupBytes }, // documents
  { tag: 0x45 }, // ended entries
  { tag: 0x46 }, // expiry marks
  { tag: 0x48 }, // history
  { tag: 0x49, groupBytes: indexGroupBytes }, // live entries
  { tag: 0x4a, groupBytes: indexGroupBytes }, // events
  { tag: 0x52 }, // change record
]

/** A power of two. With this number, the names of all trees fit into one page of LMDB, which can contain 65 names. */
const treesPerKind = 16

export const treeCount = 1 + kinds.reduce((sum, { groupBytes }) => sum + (groupBytes ? treesPerKind : 1), 0)

export class Trees {
  readonly #other: ByteDatabase
  /** Trees by the first byte of the keys. Undefined if the keys are in `#other`. */
  readonly #byTag: (readonly ByteDatabase[] | undefined)[] = new Array(256).fill(undefined)
  readonly #groupBytes = new Uint8Array(256)

  /** `open`: opens or creates a tree. */
  constructor(open: (name: string) => ByteDatabase) {
    this.#other = open('other')
    for (const { tag, groupBytes } of kinds) {
      const count = groupBytes === undefined ? 1 : treesPerKind
      const letter = String.fromCharCode(tag)
      this.#byTag[tag] = Array.from({ length: count }, (_, index) => open(`${letter}${index}`))
      this.#groupBytes[tag] = groupBytes ?? 1
    }
  }

  /** The key must not be empty. */
  of(key: Bytes): ByteDatabase {
    const tag = key[0] as number
    const trees = this.#byTag[tag]
    if (trees === undefined) return this.#other
    return trees[treeIndexOf(key, this.#groupBytes[tag] as number)] as ByteDatabase
  }

  /** The trees that may contain keys of the range, which must not be empty. */
  within({ end, start }: Pick<KeyRange, 'start' | 'end'>): readonly ByteDatabase[] {
    const first = start[0] ?? 0
    // `end` itself is not in the range. So if `end` is a single byte, no key with this first byte is in the range.
    const last = end.length > 1 ? (end[0] as number) : (end[0] as number) - 1
    if (first === last && this.#isOneGroup(first, start, end)) return [this.of(start)]
    const trees: ByteDatabase[] = []
    let hasOthers = false
    for (let tag = first; tag <= last; tag++) {
      const ofTag = this.#byTag[tag]
      if (ofTag === undefined) hasOthers = true
      else trees.push(...ofTag)
    }
    if (hasOthers) trees.push(this.#other)
    return trees
  }

  /**
   * Returns whether all keys from `start` to `end` are in the tree of `start`. All of them must have the first byte
   * `tag`.
   */
  #isOneGroup(tag: number, start: Bytes, end: Bytes): boolean {
    const bytes = this.#groupBytes[tag] as number
    if (bytes <= 1) return true
    if (start.length < bytes) return false
    let at = 1
    while (at < bytes && at < end.length && start[at] === end[at]) at++
    if (at === bytes) return true
    // If `end` is the first key after the group of `start`, the range contains only keys of this group.
    if (end.length !== at + 1 || end[at] !== (start[at] as number) + 1) return false
    for (let rest = at + 1; rest < bytes; rest++) if (start[rest] !== 0xff) return false
    return true
  }
}

/** Groups with consecutive numbers are in different trees. */
function treeIndexOf(key: Bytes, groupBytes: number): number {
  let sum = 0
  for (let at = 1; at < groupBytes && at < key.length; at++) sum += key[at] as number
  return sum & (treesPerKind - 1)
}
