// Rows that no index finds, or sorts: each document is looked at, and how far that is can be seen and stopped.

import { useEffect, useState } from 'preact/hooks'
import { CountAll } from '../parts/count-all.tsx'
import { FoundChanges } from '../parts/found-changes.tsx'
import { Problem } from '../parts/problem.tsx'
import { type Scan, useScan } from '../parts/scan.ts'
import { databasePath, pastTime } from '../router.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { rights } from '../session.ts'
import { conditionText } from './condition-form.tsx'
import { IndexOffer } from './index-offer.tsx'
import { RowPage, type ShownProps } from './row-page.tsx'

const pageSize = 50
/** Sorted rows that are kept; showing more of them reads the documents again. */
const keptSize = 1000
/** Documents from which on looking at each of them is slow. */
const slowFrom = 1000

/** The rows, as far as they were found. */
export function ScannedRows(props: ShownProps & { readonly onIndex: () => void }) {
  const { collection, plan, fields, onSeen, onIndex } = props
  const isSorted = plan.sort !== undefined
  const [shown, setShown] = useState(pageSize)
  const [turn, setTurn] = useState(0)
  const wanted = isSorted ? Math.ceil(shown / keptSize) * keptSize : shown
  const scan = useScan(plan, wanted, [plan, pastTime.value, databasePath.value.join('/'), turn])
  useEffect(() => setShown(pageSize), [plan])
  useEffect(() => {
    if (scan.rows.length > 0) onSeen(scan.rows.slice(0, pageSize))
  }, [scan.rows.length > 0])
  const hasMore = shown < scan.found || (!isSorted && !scan.isComplete)
  const mayChange = rights.value.writes && pastTime.value === undefined
  return (
    <>
      <div class="row-facts">
        <ScanFacts scan={scan} plan={plan} turn={turn} />
        {mayChange && (
          <FoundChanges
            {...{ collection, plan, fields }}
            conditions={plan.filter.map(conditionText)}
            isEmpty={scan.isComplete && scan.found === 0}
            onChanged={() => setTurn(turn + 1)}
          />
        )}
      </div>
      {scan.error && <Problem error={scan.error} retry={scan.goOn} />}
      {scan.looked >= slowFrom && mayChange && (
        <IndexOffer collection={collection} plan={plan} onMade={onIndex} />
      )}
      {scan.rows.length === 0 && !scan.isRunning && scan.isComplete ? (
        <p class="empty">Nothing is found by this. Take a filter away, or change it.</p>
      ) : (
        scan.rows.length > 0 && (
          <RowPage {...props} rows={scan.rows.slice(0, shown)} isLive={false} onChanged={scan.refresh}>
            {hasMore && !scan.isRunning && (
              <button type="button" onClick={() => setShown(shown + pageSize)}>
                Show more
              </button>
            )}
          </RowPage>
        )
      )}
    </>
  )
}

interface ScanFactsProps {
  readonly scan: Scan
  readonly plan: RowPlan
  readonly turn: number
}

function ScanFacts({ scan, plan, turn }: ScanFactsProps) {
  const { found, isComplete, isRunning, looked } = scan
  const progress = `${found} found so far; ${looked} documents looked at${isRunning ? '…' : '.'}`
  return (
    <>
      <span role="status">{isComplete ? `${found} found.` : progress}</span>
      {isRunning && (
        <button type="button" onClick={scan.stop}>
          Stop
        </button>
      )}
      {!isRunning && !isComplete && plan.sort !== undefined && (
        <button type="button" onClick={scan.goOn}>
          Continue
        </button>
      )}
      {!isRunning && !isComplete && <CountAll key={turn} plan={plan} />}
    </>
  )
}
