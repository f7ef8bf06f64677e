// The target of a continuous backup: named objects in a folder or in a bucket. Folders and buckets offer the same four
// operations, so other code does not distinguish them. This file also defines the expected errors of a
// continuous backup.

import { megabyte } from '../base/bytes.ts'

/** Named objects. All operations throw `BackupError` when the folder or the bucket returns an error. */
export interface BackupTarget {
  /** The address of the target, without credentials. */
  readonly name: string
  /** Writes an object. The object is durable when the promise resolves. A read never returns an incomplete object. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /**
   * Reads an object; undefined if it does not exist. Throws for an object of more than `bytesMax` bytes, or of more than
   * {@link objectBytesMax} if `bytesMax` is absent.
   */
  get(name: string, bytesMax?: number): Promise<Buffer | undefined>
  /**
   * Lists the names that begin with `prefix`, in the order of their bytes. `after`: only names that sort after this
   * text are listed.
   */
  list(prefix: string, after?: string): AsyncIterable<string>
  /** Reads an object with its entity tag, which changes with each write; undefined if the object does not exist. */
  getTagged(name: string): Promise<TaggedObject | undefined>
  /**
   * Writes an object only if its entity tag is `tag`; undefined: only if the object does not exist. Returns false if the
   * object is in another state. A target without conditional writes always writes the object.
   */
  putTagged(name: string, bytes: Uint8Array, tag: string | undefined): Promise<boolean>
  /** Removes an object; does nothing if it does not exist. */
  remove(name: string): Promise<void>
}

interface TaggedObject {
  readonly bytes: Buffer
  readonly tag: string
}

/**
 * Maximum size of an object in bytes, compressed and uncompressed. A restore rejects larger objects before it reads
 * them. Pieces of the log are much smaller: the largest transaction has 16 megabytes and its index entries.
 */
export const objectBytesMax: number = 256 * megabyte

/** Thrown when a backup cannot be written, read or restored. The message is one line for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}

/** Thrown when objects of a backup are missing or damaged. */
export class IncompleteBackupError extends BackupError {}
