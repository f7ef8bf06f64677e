// Reads files that may be missing.

/** Returns undefined if `read` fails because a file or folder does not exist. */
export function ifPresent<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
