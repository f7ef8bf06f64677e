// The address of a continuous backup: a folder, or a bucket as s3://BUCKET/PREFIX.

import { resolve } from 'node:path'

/**
 * The address of a continuous backup. `prefix` is the prefix of the names of all objects in a bucket, without a slash
 * at its end.
 */
type BackupAddress =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string }

const scheme = /^[a-z][a-z0-9+.-]*:\/\//i
const bucketPattern = /^s3:\/\/([^/]+)(?:\/(.*))?$/i

/** Parses an address; relative folders become absolute. Undefined for a text that names neither a folder nor a bucket. */
export function parseBackupAddress(text: string): BackupAddress | undefined {
  const found = bucketPattern.exec(text)
  if (found !== null) {
    const [, bucket = '', prefix = ''] = found
    return { kind: 'bucket', bucket, prefix: prefix.replace(/\/+$/, '') }
  }
  return scheme.test(text) ? undefined : { kind: 'folder', folder: resolve(text) }
}
