// Caches the decoded form of document versions that are read repeatedly. The first read after a commit compares the
// cached version with the stored bytes, and checks that the shape (the structure of fields) of the collection's
// documents is unchanged. Writers therefore need not invalidate the cache.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { type Micros, type Ref, RenderCache, sameRef } from '../../values/value.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import { versionMark, versionTtl } from './records.ts'
import type { Version } from './store-contract.ts'

/** A decoded version with its stored bytes. */
interface CachedDocument {
  readonly bytes: Bytes
  readonly version: Version
  readonly size: number
  readonly ttl: Micros
  /** The time of the last change to the shape of the collection's documents; 0 if the shape never changed. */
  readonly shapeTime: Micros
  /** This version was the current version of its document as of this commit time. */
  validAtCommit: Micros
}

/** Approximate bytes of memory for each version, in addition to {@link bytesPerByte} for each stored byte. */
const bytesPerVersion = 800
/** Approximate bytes of memory for each stored byte of a version: the decoded fields and the rendered text. */
const bytesPerByte = 5

/** Maximum number of versions that are remembered after their first read; see {@link ReadOnce}. */
const readOnceMax = 65_536

/** Maximum number of remembered references without a document. */
const absentMax = 4096

export class DocumentCache {
  /** The cached versions, by the hash of the document's reference. */
  readonly #known: GenerationCache<number, CachedDocument>
  /**
   * References without a stored version, by their hash. For example, each query of version 10 reads the document of a
   * staged schema, which usually does not exist.
   */
  readonly #absent = new GenerationCache<number, { readonly ref: Ref; readonly validAtCommit: Micros }>(
    absentMax,
  )
  readonly #readOnce = new ReadOnce(readOnceMax)

  /** `bytesMax`: the approximate limit of the cache's memory, in bytes. */
  constructor(bytesMax: number = limits.knownDocumentsBytesMax) {
    this.#known = new GenerationCache(bytesMax, ({ size }) => bytesPerVersion + bytesPerByte * size)
  }

  /** The returned version may be stale. */
  find(ref: Ref): CachedDocument | undefined {
    const known = this.#known.get(ref.hash)
    return known !== undefined && sameRef(known.version.ref, ref) ? known : undefined
  }

  /** Returns whether no version of a document was stored as of the commit time `lastCommitTime`. */
  isAbsent(ref: Ref, lastCommitTime: Micros): boolean {
    const known = this.#absent.get(ref.hash)
    return known?.validAtCommit === lastCommitTime && sameRef(known.ref, ref)
  }

  /** Records that no version of a document is stored. `lastCommitTime`: as in {@link add}. */
  addAbsent(ref: Ref, lastCommitTime: Micros): void {
    this.#absent.set(ref.hash, { ref, validAtCommit: lastCommitTime })
  }

  /**
   * Adds a version that has been read before to the cache. The caller must use the returned version instead of
   * `version`. `lastCommitTime`: the newest commit in the state from which the version was read.
   */
  add(bytes: Bytes, version: Version, shapeTime: Micros, lastCommitTime: Micros): Version {
    if (!this.#readOnce.isAgain(versionMark(bytes))) return version
    // Not enumerable, so that `{ ...version, fields }` does not copy the rendered text, which is wrong for the new
    // fields.
    const renderCache = { value: new RenderCache(version.fields), enumerable: false }
    const known = {
      bytes,
      version: Object.defineProperty({ ...version }, 'renderCache', renderCache),
      size: bytes.length,
      ttl: versionTtl(bytes),
      shapeTime,
      validAtCommit: lastCommitTime,
    }
    this.#known.set(version.ref.hash, known)
    return known.version
  }
}

/**
 * Recognizes data that is read again soon after its first read, by marks (32-bit hashes) in a table of fixed size. Data
 * is not cached at its first read, so a scan of a large collection does not fill the cache.
 */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: the size of the table; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Records a read. Returns true if an earlier read of the data with this mark is remembered. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}
