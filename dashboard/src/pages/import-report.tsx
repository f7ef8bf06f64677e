// The report of an import: counts, lists of everything that needs attention, and a link to the documents.

import type { Report } from '../../../src/transfer/report.ts'
import { addressOf } from '../router.ts'

const shownMax = 100

const counted = [
  ['written', 'created'],
  ['equal', 'unchanged (already there)'],
  ['kept', 'skipped (the stored document with this id has other data and stays unchanged)'],
  ['replaced', 'replaced'],
  ['bad', 'rejected'],
  ['expired', 'skipped because they have expired'],
] as const

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
        . <a href={addressOf(['collections', collection])}>Show documents</a>
      </p>
      <Findings
        title="Rejected documents"
        count={total.bad}
        lines={bad.map(
          ({ line, record, reason }) => `line ${line}${record ? ` (document ${record})` : ''}: ${reason}`,
        )}
      />
      <Findings
        title="References to documents that do not exist"
        lines={Object.entries(dangling).map(
          ([name, { count, places }]) => `${name}: ${count} (${places.join(', ')})`,
        )}
      />
      <Findings
        title="Data that could not be imported"
        lines={Object.entries(lost).map(
          ([name, { count, places }]) => `${name}: ${count} (${places.join(', ')})`,
        )}
      />
      <Findings
        title="Text values that look like another type and were imported as text"
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
