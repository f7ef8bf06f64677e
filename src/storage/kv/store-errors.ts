// The errors of an engine that cannot read or write its data. Possible reasons are missing permissions, a full disk,
// files of another program, or a closed store.

/** `cause` contains the error of the system, of LMDB or of the database, if there is one. */
export class StoreUnavailableError extends Error {
  override name = 'StoreUnavailableError'
  /** The outcome of the failed transaction. */
  readonly outcome: 'not committed' | 'unknown'

  constructor(message: string, options: ErrorOptions & { readonly outcome?: 'unknown' } = {}) {
    super(message, options)
    this.outcome = options.outcome ?? 'not committed'
  }
}

export class FolderInUseError extends StoreUnavailableError {
  override name = 'FolderInUseError'
}

/** Formats a cause in one line. */
export function causeText(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(causeText).join(', ')
  return cause instanceof Error && cause.message !== '' ? cause.message : String(cause)
}

/** A disk or a quota is full. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' || isFullDisk(error.cause)
}

/**
 * LMDB's errors for missing or invalid pages (MDB_PAGE_NOTFOUND, MDB_CORRUPTED), and errors that invalid pages cause:
 * MDB_PANIC, MDB_CURSOR_FULL, MDB_PAGE_FULL, MDB_BAD_TXN.
 */
const damageCodes: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30787, -30786, -30782])

/** Returns whether the error of a read or a transaction means that the files of the engine are damaged. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return damageCodes.has((error as { readonly code?: unknown }).code) || isDamage(error.cause)
}
