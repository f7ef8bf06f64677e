// Versions of documents that are read again and again, decoded once. What is remembered is compared with what is stored,
// byte by byte, whenever anything at all has been committed since it was compared last, and so is the shape of its
// collection: it can neither be stale nor belong to another document, and no writer has to say when something has changed.

import { GenerationCache } from '../../base/generation-cache.ts'
import { limits } from '../../base/limits.ts'
import { type Micros, type Ref, sameRef, VersionRenderCache } from '../../values/value.ts'
import type { Bytes } from '../kv/contract.ts'
import type { Version } from './contract.ts'
import { ReadOnce } from './read-once.ts'
import { versionMark, versionTtl } from './records.ts'

/** A version with its stored form. */
interface KnownDocument {
  readonly bytes: Bytes
  readonly version: Version
  /** What `bytes` say, so that they need not be looked at: how many they are, and when the version expires. */
  readonly size: number
  readonly ttl: Micros
  /** When the shape of its collection had been changed last; 0: never. */
  readonly shapeTime: Micros
  /** The newest commit of a state in which it was found to be the document's newest version. */
  foundAt: Micros
}

/** What a version takes in memory beside a multiple of its stored bytes, roughly. */
const bytesPerVersion = 800
/** Decoded fields and text for each stored byte, roughly. */
const bytesPerByte = 5

/** Versions that are remembered to have been read once. */
const readOnceMax = 65_536

export class KnownDocuments {
  /** By the hash of the document's reference. */
  readonly #known: GenerationCache<number, KnownDocument>
  readonly #readOnce = new ReadOnce(readOnceMax)

  /** `bytesMax`: about what may be held. */
  constructor(bytesMax: number = limits.knownDocumentsBytesMax) {
    this.#known = new GenerationCache(bytesMax, ({ size }) => bytesPerVersion + bytesPerByte * size)
  }

  /** What was last known of the document. */
  find(ref: Ref): KnownDocument | undefined {
    const known = this.#known.get(ref.hash)
    return known !== undefined && sameRef(known.version.ref, ref) ? known : undefined
  }

  /** Notes what was decoded in a state with that newest commit; returns what is to be used in place of `version`. */
  decoded(bytes: Bytes, version: Version, shapeTime: Micros, lastCommitTime: Micros): Version {
    if (!this.#readOnce.isAgain(versionMark(bytes))) return version
    // A copy of the version with other fields does not take it along.
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
