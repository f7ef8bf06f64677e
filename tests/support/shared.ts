// Resources that the test files of one process share, such as a browser. The first file that needs a resource opens it.
// It is closed after the last file of a batch (tests/support/batch.ts), or after a file that runs alone.

import { after } from 'node:test'

let batchClosers: (() => Promise<void>)[] | undefined

/** Leaves shared resources open between test files. Call {@link closeShared} after the last one. */
export function shareBetweenFiles(): void {
  batchClosers = []
}

export async function closeShared(): Promise<void> {
  for (const close of batchClosers?.splice(0) ?? []) await close()
}

/**
 * Opens a resource once for all files of this process. Call `shared` at the top of a file: the hook that closes the
 * resource belongs to the suite in which it is registered.
 */
export function shared<T>(open: () => Promise<T>, close: (resource: T) => Promise<void>): () => Promise<T> {
  let resource: Promise<T> | undefined
  const closeOnce = async () => {
    const opened = resource
    resource = undefined
    if (opened !== undefined) await close(await opened)
  }
  if (batchClosers) batchClosers.push(closeOnce)
  else after(closeOnce)
  return () => {
    resource ??= open()
    return resource
  }
}
