// Caches the decoded form of document versions that are read repeatedly. After any commit, the next read of a cached
// version compares the version with the stored bytes, and its shape with the shape of its collection. A stale version
// is therefore never used, and writers need not invalidate the cache.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { type Micros, type Ref, sameRef, VersionRenderCache } from '../../values/value.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import { versionMark, versionTtl } from './records.ts'
import type { Version } from './store-contract.ts'

/** A version with its stored form. */
interface CachedDocument {
  readonly bytes: Bytes
  readonly version: Version
  /** The length of `bytes`. `ttl`: the expiry of the version. */
  readonly size: number
  readonly ttl: Micros
  /** When the shape of the collection's documents last changed; 0 if it never changed. */
  readonly shapeTime: Micros
  /** The time of the newest commit after which this version is known to be the newest version of its document. */
  foundAt: Micros
}

/** Approximate bytes of memory for each version, in addition to {@link bytesPerByte} for each stored byte. */
const bytesPerVersion = 800
/** Approximate bytes of memory for each stored byte of a version: the decoded fields and the rendered text. */
const bytesPerByte = 5

/** Number of versions that are remembered after their first read. */
const readOnceMax = 65_536

export class DocumentCache {
  /** The cached versions, by the hash of the document's reference. */
  readonly #known: GenerationCache<number, CachedDocument>
  readonly #readOnce = new ReadOnce(readOnceMax)

  /** `bytesMax`: the approximate limit of the cache's memory, in bytes. */
  constructor(bytesMax: number = limits.knownDocumentsBytesMax) {
    this.#known = new GenerationCache(bytesMax, ({ size }) => bytesPerVersion + bytesPerByte * size)
  }

  /** Returns the cached version of a document, which may be stale. Undefined if no version is cached. */
  find(ref: Ref): CachedDocument | undefined {
    const known = this.#known.get(ref.hash)
    return known !== undefined && sameRef(known.version.ref, ref) ? known : undefined
  }

  /**
   * Adds a version to the cache, unless this is its first recent read. Returns the version that the caller must use
   * instead of `version`. `lastCommitTime`: the time of the newest commit in the state from which the version was read.
   */
  decoded(bytes: Bytes, version: Version, shapeTime: Micros, lastCommitTime: Micros): Version {
    if (!this.#readOnce.isAgain(versionMark(bytes))) return version
    // `shown` is not enumerable, because a copy of the version with other fields must not get its rendered text.
    const shown = { value: new VersionRenderCache(version.fields), enumerable: false }
    const known = {
      bytes,
      version: Object.defineProperty({ ...version }, 'shown', shown),
      size: bytes.length,
      ttl: versionTtl(bytes),
      shapeTime,
      foundAt: lastCommitTime,
    }
    this.#known.set(version.ref.hash, known)
    return known.version
  }
}

// Recognizes data that is read again soon after its first read. Only such data is cached, so a scan of a large
// collection does not fill the cache.

/** Remembers the marks (32-bit hashes) of recently read data, in a table of fixed size. */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: the size of the table; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Records a read of the data with the given mark. Returns true if an earlier read of this data is remembered. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}
