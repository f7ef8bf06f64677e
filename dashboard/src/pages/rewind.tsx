// The command that takes all documents of a collection back to the time of a version. It reads and writes the whole collection,
// which outlives a page of the dashboard, so it runs on the command line.

import { CopyButton } from '../parts/copy.tsx'
import { exactTime } from '../parts/time.tsx'
import { databasePath } from '../router.ts'

interface RewindProps {
  readonly collection: string
  /** In microseconds. */
  readonly time: bigint
}

/** A word of a command, in quotes where a shell would split or change it. */
const quoted = (word: string) => (/^[\w./:@+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** The command, folded away. */
export function RewindCommand({ collection, time }: RewindProps) {
  const path = databasePath.value.join('/')
  const command = [
    ...['npx', 'terrarium-db', 'rewind', '--url', location.origin],
    ...(path === '' ? [] : ['--database', path]),
    ...['--collection', collection, '--at', exactTime(time), '--dry-run'],
  ]
    .map(quoted)
    .join(' ')
  return (
    <details>
      <summary>Rewind the whole collection to this time</summary>
      <p>
        Run this command with the secret of an admin key in <code>TERRARIUM_SECRET</code>. It counts the
        documents that would change; without <code>--dry-run</code> it changes them. Each change is a new
        version, so a rewind can be rewound. Readers may see the collection half done.
      </p>
      <pre class="drawn wrapped">{command}</pre>
      <CopyButton text={command} label="Copy the command" />
    </details>
  )
}
