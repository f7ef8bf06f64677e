// Describes system errors of files and addresses in words.

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'it is already in use',
  ENOENT: 'it does not exist',
  EADDRNOTAVAIL: 'the machine does not have this address',
  ENOTFOUND: 'the name is unknown',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'part of the path is not a directory',
  EEXIST: 'it is not a directory',
  ENOSPC: 'the disk is full',
}

/** The reason of a failed system call, in words. */
export function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code
  return (code !== undefined && reasons[code]) || (code ?? String(cause))
}
