// The target of a continuous backup, with the expected errors. Folders and buckets offer the same operations, so other
// code does not distinguish them.

import { megabyte } from '../base/bytes.ts'

/** All operations throw `BackupError` when the folder or the bucket returns an error. */
export interface BackupTarget {
  /** The address of the target, without credentials. */
  readonly name: string
  /** The object is durable when the promise resolves. A read never returns an incomplete object. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /**
   * Returns undefined if the object does not exist. Throws for an object of more than `bytesMax` bytes (by default,
   * {@link objectBytesMax}).
   */
  get(name: string, bytesMax?: number): Promise<Buffer | undefined>
  /** Lists names in the order of their bytes. `after`: lists only names that sort after this text. */
  list(prefix: string, after?: string): AsyncIterable<string>
  /** The entity tag changes with each write; undefined if the object does not exist. */
  getTagged(name: string): Promise<TaggedObject | undefined>
  /**
   * Writes an object only if its entity tag is `tag`, or for undefined only if the object does not exist; else returns
   * false. A target without conditional writes always writes the object.
   */
  putTagged(name: string, bytes: Uint8Array, tag: string | undefined): Promise<boolean>
  /** Does nothing if the object does not exist. */
  remove(name: string): Promise<void>
}

interface TaggedObject {
  readonly bytes: Buffer
  readonly tag: string
}

/**
 * Maximum bytes of an object, both compressed and uncompressed, so that a restore needs limited memory. Pieces of the
 * log are much smaller: the largest transaction has 16 megabytes and its index entries.
 */
export const objectBytesMax: number = 256 * megabyte

/** The message is one line for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}

export class IncompleteBackupError extends BackupError {}

/** Throws {@link BackupError} for an object with more than `bytesMax` bytes. */
export function checkSize(name: string, bytes: number, bytesMax: number): void {
  if (bytes > bytesMax)
    throw new BackupError(`the object ${name} has ${bytes} bytes, allowed are ${bytesMax}`)
}
