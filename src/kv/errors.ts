// The one failure of an engine that is not a bug: the place where it keeps its data does not
// let it (missing rights, full disk, foreign files, closed already).

/** The store cannot be opened or written. The message is plain and names the path; `cause` holds the engine's error. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** What became of the writes of whoever gets this error. */
  readonly outcome: 'not committed' | 'unknown'

  constructor(message: string, options: ErrorOptions & { readonly outcome?: 'unknown' } = {}) {
    super(message, options)
    this.outcome = options.outcome ?? 'not committed'
  }
}
