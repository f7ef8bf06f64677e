// Opens the target of a continuous backup: a folder, or a bucket of an S3-compatible service.

import { parseBackupAddress } from '../base/addresses.ts'
import { openBucketTarget } from './bucket-target.ts'
import { FolderTarget } from './folder-target.ts'
import { BackupError, type BackupTarget } from './target.ts'

/** Throws {@link BackupError} for an invalid address. */
export async function openTarget(text: string): Promise<BackupTarget> {
  const address = parseBackupAddress(text)
  if (address === undefined) throw new BackupError(`${text} is neither a folder nor s3://BUCKET/PREFIX`)
  return address.kind === 'folder'
    ? new FolderTarget(address.folder)
    : openBucketTarget(address.bucket, address.prefix)
}
