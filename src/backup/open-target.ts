// Opens the target of a continuous backup at an address.

import { parseBackupAddress } from '../base/addresses.ts'
import { BackupError } from './errors.ts'
import { FolderTarget } from './folder-target.ts'
import { openS3Target } from './s3-target.ts'
import type { BackupTarget } from './target.ts'

/** Opens the folder or the bucket that `text` names. Throws {@link BackupError} for an invalid address. */
export async function openTarget(text: string): Promise<BackupTarget> {
  const address = parseBackupAddress(text)
  if (address === undefined) throw new BackupError(`${text} is neither a folder nor s3://BUCKET/PREFIX`)
  return address.kind === 'folder'
    ? new FolderTarget(address.folder)
    : openS3Target(address.bucket, address.prefix)
}
