// Small text files that are read and replaced as a whole.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { ifPresent } from './if-present.ts'

/** Returns undefined if the file does not exist. */
export function readIfPresent(path: string): string | undefined {
  return ifPresent(() => readFileSync(path, 'utf8'))
}

/**
 * Writes under another name and then renames, so that a crash leaves either the old or the new text. By default, only
 * the owner can read the file. With `flush`, the text is on the disk before the file is replaced.
 */
export function replaceFile(
  path: string,
  text: string,
  { flush = false, mode = 0o600 }: { readonly flush?: boolean; readonly mode?: number } = {},
): void {
  writeFileSync(`${path}.new`, text, { mode, flush })
  renameSync(`${path}.new`, path)
}
