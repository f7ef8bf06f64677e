// The output of the commands that pull and push a schema.

import { jsonText, writeSyntaxError } from '../client/report.ts'
import { escapeHidden } from '../terminal.ts'
import type { FolderContent } from './folder.ts'

export interface SchemaChoice {
  readonly dryRun: boolean
  readonly json: boolean
  readonly yes: boolean
}

/** The result for `--json`, to which {@link reportOutcome} adds whether the changes were made. */
export type SchemaResult = Readonly<Record<string, unknown>> & {
  readonly changes: readonly object[] | string
}

export function showSkipped(content: FolderContent | undefined): void {
  for (const { error, from } of content?.unread ?? [])
    writeSyntaxError(error, from, process.stderr, 'skipped, because scripts are not run')
  for (const folder of content?.children ?? [])
    process.stderr.write(
      `skipped: ${escapeHidden(folder)} is the schema of a child database; push it separately\n`,
    )
}

/** Prints lines for people; does nothing if the result is printed as JSON. */
export function printerFor({ json }: SchemaChoice): (line: string) => void {
  return json ? () => {} : line => process.stdout.write(`${line}\n`)
}

/** Prints the result if the command has the flag `--json`. Returns the exit status. */
export function reportOutcome(
  { json }: SchemaChoice,
  result: SchemaResult,
  isDone: boolean,
  status: number,
): number {
  if (json) process.stdout.write(`${jsonText(JSON.stringify({ ...result, isDone }), process.stdout)}\n`)
  return status
}
