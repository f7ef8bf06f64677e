// The one failure of an engine that is not a bug: the place where it keeps its data does not
// let it (missing rights, full disk, foreign files, closed already).

/** The store cannot be opened or written. The message is plain and names the path; `cause` holds the engine's error. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** What became of the writes of the transaction that failed. */
  readonly outcome: 'not committed' | 'unknown'

  constructor(message: string, options: ErrorOptions & { readonly outcome?: 'unknown' } = {}) {
    super(message, options)
    this.outcome = options.outcome ?? 'not committed'
  }
}

/** Another process has the data directory. */
export class FolderInUseError extends StoreUnavailableError {
  override name = 'FolderInUseError'
}

/** What an error says, in one line. */
export function wordsOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(wordsOf).join(', ')
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}

/** Whether something failed because a disk, or the share of it that may be used, is full. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' || isFullDisk(error.cause)
}

/** Codes of LMDB's errors for pages that cannot be, or are not there. */
const damageCodes: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30787, -30786, -30782])

/** Whether a failed read or transaction of an engine says that its files are damaged. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return damageCodes.has((error as { readonly code?: unknown }).code) || isDamage(error.cause)
}
