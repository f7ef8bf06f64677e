// Caches the decoded form of document versions that are read repeatedly. If there was any commit since the last
// comparison, a cached version is compared with the stored bytes, and its shape with the shape of its collection. So a
// cached version is never stale and never belongs to another document, and writers need not invalidate it.

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
  /** Facts about `bytes` that are needed without decoding: their length, and the expiry of the version. */
  readonly size: number
  readonly ttl: Micros
  /** The time of the last change of its collection's shape; 0: never. */
  readonly shapeTime: Micros
  /** The newest commit of the last state in which this was the document's newest version. */
  foundAt: Micros
}

/** Approximate memory of a version in addition to a multiple of its stored bytes. */
const bytesPerVersion = 800
/** Approximate memory of decoded fields and text for each stored byte. */
const bytesPerByte = 5

/** Number of versions that are remembered as read once. */
const readOnceMax = 65_536

export class DocumentCache {
  /** The cached versions, by the hash of the document's reference. */
  readonly #known: GenerationCache<number, CachedDocument>
  readonly #readOnce = new ReadOnce(readOnceMax)

  /** `bytesMax`: approximate memory of the cache. */
  constructor(bytesMax: number = limits.knownDocumentsBytesMax) {
    this.#known = new GenerationCache(bytesMax, ({ size }) => bytesPerVersion + bytesPerByte * size)
  }

  /** The cached version of the document. */
  find(ref: Ref): CachedDocument | undefined {
    const known = this.#known.get(ref.hash)
    return known !== undefined && sameRef(known.version.ref, ref) ? known : undefined
  }

  /**
   * Adds a version that was decoded in a state with that newest commit; returns the version to use in place of
   * `version`.
   */
  decoded(bytes: Bytes, version: Version, shapeTime: Micros, lastCommitTime: Micros): Version {
    if (!this.#readOnce.isAgain(versionMark(bytes))) return version
    // A copy of the version with other fields must not share its text.
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

// Recognizes data that is read a second time within a short period. Only such data is cached, so a scan of a large
// collection does not fill the cache.

/** Remembers, in a table of fixed size, the marks of recently read data. */
export class ReadOnce {
  readonly #marks: Int32Array

  /** `marksMax`: the size of the table; a power of two. */
  constructor(marksMax: number) {
    this.#marks = new Int32Array(marksMax)
  }

  /** Records a read of the data with this mark, a 32-bit integer. Returns true when an earlier read was recorded. */
  isAgain(mark: number): boolean {
    const slot = mark & (this.#marks.length - 1)
    if (this.#marks[slot] === mark) return true
    this.#marks[slot] = mark
    return false
  }
}
