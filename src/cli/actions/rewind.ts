// `terrarium rewind`: restores the documents of a collection as they were at a given time, and prints the number of
// changes.

import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { type RewindCounts, runRewind } from '../../transfer/rewinder.ts'
import type { ClientChoice } from '../client/options.ts'
import { withCount } from '../progress.ts'
import { timeOf } from '../time-argument.ts'
import { withTarget } from '../transfer-target.ts'

interface Choice extends Pick<ClientChoice, 'url' | 'secret' | 'database'> {
  readonly collection: string | undefined
  readonly at: string | undefined
  readonly batch: number
  readonly dryRun: boolean
  readonly json: boolean
}

/** Resolves with the exit status. */
export function rewind(options: Choice, config: Config): Promise<number> {
  const { at, batch, collection, dryRun, json } = options
  if (collection === undefined || at === undefined) throw new UsageError('rewind needs --collection and --at')
  return withTarget({ options, config }, false, async ({ connection, database }) => {
    const progress = { documents: 0 }
    const wanted = { database, collection, to: timeOf(at), batch, dryRun }
    const counts = await withCount('rewind', progress, () => runRewind(connection, wanted, progress))
    process.stdout.write(json ? `${JSON.stringify(counts)}\n` : countsText(counts, dryRun))
    return 0
  })
}

function countsText({ created, deleted, expired, kept, replaced }: RewindCounts, isDryRun: boolean): string {
  const [remove, create, replace] = isDryRun
    ? ['would delete', 'create', 'replace']
    : ['deleted', 'created', 'replaced']
  const end = expired === 0 ? '' : `; ${expired} have expired since and stay deleted`
  return `${remove} ${deleted}, ${create} ${created} and ${replace} ${replaced} documents; ${kept} unchanged${end}\n`
}
