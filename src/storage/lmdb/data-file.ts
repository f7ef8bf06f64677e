// Checks LMDB's data file before the file is mapped into memory. LMDB trusts the content of the file, and the system
// kills a process that reads a mapped page beyond the end of the file. This module finds such damage: it checks the
// first pages, which describe the other pages.
//
// A data file begins with two meta pages. Commits write the two pages alternately. The newer meta page contains the
// roots of the trees and the number of the last page. The layouts are from version 2 of the format, for machines with
// 8-byte, little-endian numbers. lmdb-js supports no other machines.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { stayAlive, wait } from '../../base/timers.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'

export const dataFileName = 'data.mdb'

/** Fixed, so that the maximum length of a key is the same on every machine (1978 bytes). */
export const pageBytes = 4096

const magic = 0xbeefc0de
const formatVersion = 2
/** The root page of an empty tree. */
const noPage = 0xffff_ffff_ffff_ffffn
const mapBytesMax = 2n ** 46n

const pageFlags = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const
const nodeFlags = { bigData: 0x01, tree: 0x02 } as const
/** The keys of the tree of free pages are integers. */
const freeTreeFlags = 0x08

/** Offsets in every page. Only the first page of a long value has `overflowPages`, in place of `lower`. */
const pageAt = { number: 0, flags: 18, lower: 20, overflowPages: 20, nodes: 24 } as const
/** Offsets in a meta page. LMDB stores the size of a page in an unused field of the tree of free pages. */
const metaAt = {
  magic: 24,
  version: 28,
  address: 32,
  mapBytes: 40,
  pageBytes: 48,
  freeFlags: 52,
  freeTree: 48,
  mainTree: 96,
  lastPage: 144,
  commit: 152,
} as const
/** Each meta page contains a commit number of 8 bytes. */
export const commitOffsets: readonly number[] = [metaAt.commit, pageBytes + metaAt.commit]

export function metaPageBytes(page: Buffer): number {
  return page.readUInt32LE(metaAt.pageBytes)
}

/** The path of the environment is a file. Stored in the flags of the tree of free pages. */
const fileFlag = 0x4000

/** The meta page `number` of a new environment without content, whose path is a file. `bytes`: the size of a page. */
export function encodeEmptyMeta(number: 0 | 1, bytes: number, mapBytes: number): Buffer {
  const page = Buffer.alloc(bytes)
  page.writeBigUInt64LE(BigInt(number), pageAt.number)
  page.writeUInt16LE(pageFlags.meta, pageAt.flags)
  page.writeUInt32LE(magic, metaAt.magic)
  page.writeUInt32LE(formatVersion, metaAt.version)
  page.writeBigUInt64LE(BigInt(mapBytes), metaAt.mapBytes)
  page.writeUInt32LE(bytes, metaAt.pageBytes)
  page.writeUInt16LE(freeTreeFlags | fileFlag, metaAt.freeFlags)
  for (const tree of [metaAt.freeTree, metaAt.mainTree]) page.writeBigUInt64LE(noPage, tree + treeAt.root)
  page.writeBigUInt64LE(1n, metaAt.lastPage)
  return page
}

/** Offsets in the description of a tree. */
const treeAt = { depth: 6, branches: 8, leaves: 16, overflows: 24, entries: 32, root: 40 } as const
/** Offsets in a node, and the offset of its key. */
const nodeAt = { low: 0, high: 2, flags: 4, keyBytes: 6, key: 8 } as const

interface TreeCounts {
  branches: bigint
  leaves: bigint
  overflows: bigint
  entries: bigint
}

interface Tree extends Readonly<TreeCounts> {
  readonly depth: number
  readonly root: bigint
}

interface Meta {
  readonly commit: bigint
  readonly lastPage: bigint
  readonly trees: readonly [Tree, Tree]
}

/**
 * Checks a data file as far as possible without reading all of it. Throws {@link StoreUnavailableError} with a message
 * of one line if it is damaged, or not a data file of this store. An empty file is valid.
 */
export function checkDataFile(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    for (let attempt = 1; ; attempt++) {
      const before = metaPages(descriptor)
      try {
        const bytes = fstatSync(descriptor).size
        if (bytes > 0) new DataFile(file, descriptor, bytes).check()
        return
      } catch (error) {
        // Another process may be writing to the file, so data that was read at different times may be inconsistent.
        const isInUse = !before.equals(metaPages(descriptor))
        if (!isInUse || attempt === attemptsMax) throw error
      }
    }
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Reads a whole data file that no process writes to, while the event loop continues to run. Resolves with the first
 * error in the structure of its trees, in one line; undefined when LMDB can read the file. Values are not checked.
 */
export async function findDamage(file: string): Promise<string | undefined> {
  const descriptor = openSync(file, 'r')
  const letGo = stayAlive()
  try {
    const bytes = fstatSync(descriptor).size
    if (bytes === 0) return undefined
    const data = new DataFile(file, descriptor, bytes, '')
    const newest = data.check()
    let pages = 0
    for (const _ of data.walk(newest)) if (++pages % pagesAtOnce === 0) await wait(0)
    return undefined
  } catch (error) {
    if (error instanceof StoreUnavailableError) return error.message
    throw error
  } finally {
    letGo()
    closeSync(descriptor)
  }
}

const pagesAtOnce = 500

/** Maximum number of checks of a file while other processes write to it. */
const attemptsMax = 100

function metaPages(descriptor: number): Buffer {
  const pages = Buffer.alloc(2 * pageBytes)
  readSync(descriptor, pages, 0, pages.length, 0)
  return pages
}

class DataFile {
  readonly #file: string
  readonly #descriptor: number
  readonly #bytes: number
  readonly #advice: string

  constructor(file: string, descriptor: number, bytes: number, advice = '; restore a backup') {
    this.#file = file
    this.#descriptor = descriptor
    this.#bytes = bytes
    this.#advice = advice
  }

  /** Checks the meta pages and the roots; returns the newer meta page. */
  check(): Meta {
    const first = this.#meta(0)
    const second = this.#meta(1)
    this.#checkAlternation(first.commit, second.commit)
    const newest = first.commit > second.commit ? first : second
    for (const tree of newest.trees) this.#checkRoot(tree)
    // A file may be shorter than its meta page says, if the missing pages are free and were never written. The walk
    // finds missing pages in use.
    const isShort = BigInt(this.#bytes) < (newest.lastPage + 1n) * BigInt(pageBytes)
    if (isShort) for (const _ of this.walk(newest));
    return newest
  }

  #damaged(what: string): StoreUnavailableError {
    return new StoreUnavailableError(`${this.#file} is damaged: ${what}${this.#advice}`)
  }

  #cutOff(page: bigint): StoreUnavailableError {
    return this.#damaged(`it has ${this.#bytes} bytes so page ${page} is missing: the file is truncated`)
  }

  #page(number: bigint): Buffer {
    const page = Buffer.alloc(pageBytes)
    const offset = number * BigInt(pageBytes)
    if (offset + BigInt(pageBytes) > BigInt(this.#bytes)) throw this.#cutOff(number)
    if (readSync(this.#descriptor, page, 0, pageBytes, Number(offset)) < pageBytes) throw this.#cutOff(number)
    return page
  }

  #meta(number: 0 | 1): Meta {
    if (number === 0 && this.#bytes < pageBytes) {
      const head = Buffer.alloc(pageBytes)
      readSync(this.#descriptor, head, 0, this.#bytes, 0)
      if (head.readUInt32LE(metaAt.magic) !== magic) throw this.#notOurs()
    }
    const page = this.#page(BigInt(number))
    const isOurs = page.readUInt32LE(metaAt.magic) === magic
    if (!isOurs && number === 0) throw this.#notOurs()
    if (isOurs && page.readUInt16LE(metaAt.version) !== formatVersion) throw this.#notOurs()
    const meta: Meta = {
      commit: page.readBigUInt64LE(metaAt.commit),
      lastPage: page.readBigUInt64LE(metaAt.lastPage),
      trees: [treeIn(page, metaAt.freeTree), treeIn(page, metaAt.mainTree)],
    }
    const mapBytes = page.readBigUInt64LE(metaAt.mapBytes)
    const isSound =
      isOurs &&
      page.readBigUInt64LE(pageAt.number) === BigInt(number) &&
      page.readUInt16LE(pageAt.flags) === pageFlags.meta &&
      page.readBigUInt64LE(metaAt.address) === 0n &&
      page.readUInt32LE(metaAt.pageBytes) === pageBytes &&
      page.readUInt16LE(metaAt.freeFlags) === freeTreeFlags &&
      meta.lastPage >= 1n &&
      mapBytes <= mapBytesMax &&
      mapBytes % BigInt(pageBytes) === 0n &&
      (meta.lastPage + 1n) * BigInt(pageBytes) <= mapBytes &&
      meta.trees.every(tree => isPossible(tree, meta.lastPage))
    if (!isSound) throw this.#damaged(`its meta page ${number} has an impossible content`)
    return meta
  }

  #notOurs(): StoreUnavailableError {
    return new StoreUnavailableError(`${this.#file} is not a data file of this store`)
  }

  /**
   * Commits with even numbers write the first meta page, the others the second. A new file and a copy begin with commit
   * 0.
   */
  #checkAlternation(first: bigint, second: bigint): void {
    if (first === 0n && (second === 0n || second % 2n === 1n)) return
    const isAlternating = first % 2n === 0n && (first - second === 1n || second - first === 1n)
    if (!isAlternating) throw this.#damaged(`its meta pages are of commits ${first} and ${second}`)
  }

  #checkRoot({ depth, root }: Tree): void {
    if (root === noPage) return
    const page = this.#page(root)
    const wanted = depth === 1 ? pageFlags.leaf : pageFlags.branch
    if (page.readBigUInt64LE(pageAt.number) !== root || (page.readUInt16LE(pageAt.flags) & wanted) === 0)
      throw this.#damaged(`page ${root} is not the beginning of a tree`)
  }

  /**
   * Reads the trees, one page with each step of the generator. Throws {@link StoreUnavailableError} if a page is
   * missing or has the wrong kind, or if a tree has a wrong number of pages or entries.
   */
  *walk({ lastPage, trees }: Meta): Generator<void> {
    const seen = new Uint8Array((Math.min(Number(lastPage), this.#bytes / pageBytes) >> 3) + 1)
    const waiting = [...trees]
    for (let tree = waiting.pop(); tree !== undefined; tree = waiting.pop())
      yield* this.#walkTree(tree, lastPage, seen, waiting)
  }

  *#walkTree(tree: Tree, lastPage: bigint, seen: Uint8Array, inner: Tree[]): Generator<void> {
    const counts = { branches: 0n, leaves: 0n, overflows: 0n, entries: 0n }
    const waiting = tree.root === noPage ? [] : [{ number: tree.root, level: 1 }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      yield
      const { number, level } = next
      if (number <= 1n || number > lastPage) throw this.#damaged(`page ${number} is out of place`)
      const page = this.#page(number)
      const flags = page.readUInt16LE(pageAt.flags) & (pageFlags.branch | pageFlags.leaf)
      const isLeaf = level === tree.depth
      const isExpected = flags === (isLeaf ? pageFlags.leaf : pageFlags.branch)
      if (page.readBigUInt64LE(pageAt.number) !== number || !isExpected || !markSeen(seen, number))
        throw this.#damaged(`page ${number} is not a page of its tree`)
      const nodes = nodesOf(page)
      if (isLeaf) {
        counts.leaves++
        counts.entries += BigInt(nodes.length)
        for (const node of nodes) counts.overflows += this.#checkValue(page, node, inner)
      } else {
        counts.branches++
        for (const child of childrenOf(page)) waiting.push({ number: child, level: level + 1 })
      }
    }
    const isCounted = (Object.keys(counts) as (keyof TreeCounts)[]).every(name => counts[name] === tree[name])
    if (!isCounted) throw this.#damaged(`a tree of ${tree.entries} entries has ${counts.entries}`)
  }

  /**
   * Checks the offset of the value of a node; returns the number of separate pages that the value uses. If the value
   * is a tree, adds it to `inner`.
   */
  #checkValue(page: Buffer, node: number, inner: Tree[]): bigint {
    const flags = page.readUInt16LE(node + nodeAt.flags)
    const data = node + nodeAt.key + page.readUInt16LE(node + nodeAt.keyBytes)
    const bytes = page.readUInt16LE(node + nodeAt.low) + page.readUInt16LE(node + nodeAt.high) * 0x1_0000
    const isBig = (flags & nodeFlags.bigData) !== 0
    if (data + (isBig ? 8 : bytes) > pageBytes) throw this.#damaged('a value begins where its page ends')
    if (!isBig) {
      if (flags & nodeFlags.tree) inner.push(treeIn(page, data))
      return 0n
    }
    const first = page.readBigUInt64LE(data)
    const pages = Math.ceil((pageAt.nodes + bytes) / pageBytes)
    const end = first + BigInt(pages)
    if (end * BigInt(pageBytes) > BigInt(this.#bytes)) throw this.#cutOff(end - 1n)
    const head = this.#page(first)
    const isWhole =
      head.readBigUInt64LE(pageAt.number) === first &&
      (head.readUInt16LE(pageAt.flags) & pageFlags.overflow) !== 0 &&
      head.readUInt32LE(pageAt.overflowPages) === pages
    if (!isWhole) throw this.#damaged(`page ${first} does not contain the expected value`)
    return BigInt(pages)
  }
}

/** Returns false when the page had been visited before. */
function markSeen(seen: Uint8Array, number: bigint): boolean {
  const at = Number(number)
  const bit = 1 << (at & 7)
  const byte = seen[at >> 3] ?? 0
  seen[at >> 3] = byte | bit
  return (byte & bit) === 0
}

function treeIn(page: Buffer, offset: number): Tree {
  return {
    depth: page.readUInt16LE(offset + treeAt.depth),
    branches: page.readBigUInt64LE(offset + treeAt.branches),
    leaves: page.readBigUInt64LE(offset + treeAt.leaves),
    overflows: page.readBigUInt64LE(offset + treeAt.overflows),
    entries: page.readBigUInt64LE(offset + treeAt.entries),
    root: page.readBigUInt64LE(offset + treeAt.root),
  }
}

function isPossible({ depth, root }: Tree, lastPage: bigint): boolean {
  return root === noPage ? depth === 0 : depth > 0 && root > 1n && root <= lastPage
}

function nodesOf(page: Buffer): number[] {
  // `lower` and the stored offsets of the nodes are relative to the end of the page's header.
  const count = Math.min(pageBytes - pageAt.nodes, page.readUInt16LE(pageAt.lower)) >> 1
  const offsets = Array.from(
    { length: count },
    (_, index) => pageAt.nodes + page.readUInt16LE(pageAt.nodes + 2 * index),
  )
  return offsets.filter(offset => offset <= pageBytes - nodeAt.key)
}

function childrenOf(page: Buffer): bigint[] {
  return nodesOf(page).map(node => {
    const low = page.readUInt16LE(node + nodeAt.low) + page.readUInt16LE(node + nodeAt.high) * 0x1_0000
    return BigInt(low) + (BigInt(page.readUInt16LE(node + nodeAt.flags)) << 32n)
  })
}
