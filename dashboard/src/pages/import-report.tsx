// What became of the documents of an import: counts, and everything that a person has to look at.

import type { Report } from '../../../src/transfer/report.ts'
import { addressOf } from '../router.ts'

const shownMax = 100

const counted = [
  ['written', 'created'],
  ['equal', 'there already, the same'],
  ['kept', 'there already, left as they were'],
  ['replaced', 'replaced'],
  ['bad', 'refused'],
  ['expired', 'expired, so not created'],
] as const

/** The report, with a way to the documents. */
export function ImportReport({ report, collection }: { report: Report; collection: string }) {
  const total = report.total()
  const { bad, dangling, lookalikes, lost } = report.data
  return (
    <section aria-label="Report" class="report">
      <p role="status">
        {counted
          .filter(([name]) => name === 'written' || total[name] > 0)
          .map(([name, words]) => `${total[name]} documents ${words}`)
          .join(', ')}
        . <a href={addressOf(['collections', collection])}>See them</a>
      </p>
      <Findings
        title="These were refused"
        count={total.bad}
        lines={bad.map(
          ({ line, record, reason }) => `line ${line}${record ? ` (document ${record})` : ''}: ${reason}`,
        )}
      />
      <Findings
        title="References to documents that are not there"
        lines={Object.entries(dangling).map(
          ([name, { count, places }]) => `${name}: ${count} (${places.join(', ')})`,
        )}
      />
      <Findings
        title="Could not be kept"
        lines={Object.entries(lost).map(
          ([name, { count, places }]) => `${name}: ${count} (${places.join(', ')})`,
        )}
      />
      <Findings
        title="Texts that look like another type, and stayed texts"
        lines={Object.entries(lookalikes).map(([name, count]) => `${name}: ${count}`)}
      />
    </section>
  )
}

interface FindingsProps {
  readonly title: string
  readonly lines: readonly string[]
  readonly count?: number
}

function Findings({ title, lines, count = lines.length }: FindingsProps) {
  if (count === 0) return null
  const shown = lines.slice(0, shownMax)
  return (
    <div class="problem" role="alert">
      <p class="problem-title">
        {title} ({count}):
      </p>
      <ul>
        {shown.map(line => (
          <li key={line}>
            <bdi>{line}</bdi>
          </li>
        ))}
        {count > shown.length && <li>and {count - shown.length} more</li>}
      </ul>
    </div>
  )
}
