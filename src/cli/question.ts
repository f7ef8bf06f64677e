// Confirmation before a change: a question on a terminal, the flag `--yes` elsewhere.

import { createInterface } from 'node:readline/promises'
import { StartError } from './command.ts'

/** Asks for confirmation. Throws {@link StartError} without a terminal and without `--yes`. */
export async function isConfirmed(
  { dryRun, yes }: { readonly dryRun?: boolean; readonly yes: boolean },
  question: string,
): Promise<boolean> {
  if (dryRun) return false
  if (yes) return true
  if (!process.stdin.isTTY)
    throw new StartError('nothing was changed: without a terminal, give --yes to confirm')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(`${question} [y/N] `)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}
