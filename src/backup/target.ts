// The target of a continuous backup: named objects in a folder or in a bucket. Both offer the same four operations, so everything
// else is written once.

/** Named objects. All operations throw `BackupError` when the folder or the bucket does not let them. */
export interface BackupTarget {
  /** Its address, without credentials. */
  readonly name: string
  /** Writes an object. It is durable when the promise resolves; readers never see a part of it. */
  put(name: string, bytes: Uint8Array): Promise<void>
  /** Reads an object; undefined when there is none with that name. */
  get(name: string): Promise<Buffer | undefined>
  /** Lists the names that begin with `prefix`, ascending by their bytes, only those greater than `after` if it is given. */
  list(prefix: string, after?: string): AsyncIterable<string>
  /** Removes an object; does nothing when there is none with that name. */
  remove(name: string): Promise<void>
}
