// The target of a continuous backup: named objects in a folder or in a bucket. Both offer the same four operations, so all
// other code works with both.

/** Named objects. All operations throw `BackupError` when the folder or the bucket returns an error. */
export interface BackupTarget {
  /** Its address, without credentials. */
  readonly name: string
  /** Writes an object. It is durable when the promise resolves; readers never see a part of it. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Reads an object; undefined if it does not exist. */
  get(name: string): Promise<Buffer | undefined>
  /** Lists the names that begin with `prefix` in the order of their bytes; with `after`, only the names that sort after it. */
  list(prefix: string, after?: string): AsyncIterable<string>
  /** Removes an object; does nothing if it does not exist. */
  remove(name: string): Promise<void>
}
