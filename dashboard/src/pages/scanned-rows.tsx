// The rows of a plan that needs a scan, because no index supports the filter or the sort order. The scan shows its
// progress and can be stopped.

import { useEffect, useState } from 'preact/hooks'
import { BulkChanges } from '../parts/bulk-changes.tsx'
import { Button } from '../parts/button.tsx'
import { CountAll } from '../parts/count-all.tsx'
import { useEstimate } from '../parts/estimate.ts'
import { Problem } from '../parts/problem.tsx'
import { type Scan, useScan } from '../parts/scan.ts'
import { pastTime } from '../router.ts'
import type { RowPlan } from '../service/row-plan.ts'
import { rights } from '../session.ts'
import { conditionText } from './condition-form.tsx'
import { IndexOffer } from './index-offer.tsx'
import { RowPage, type ShownProps } from './row-page.tsx'

const pageSize = 50
/** Sorted rows in memory. To show more rows, the page reads the documents again. */
const keptSize = 1000
/** After this number of scanned documents, the page offers to create an index. */
const slowFrom = 1000

export function ScannedRows(props: ShownProps & { readonly onIndex: () => void }) {
  const { collection, plan, fields, onSeen, onIndex } = props
  const isSorted = plan.sort !== undefined
  const [shown, setShown] = useState(pageSize)
  const [reloads, setReloads] = useState(0)
  const wanted = isSorted ? Math.ceil(shown / keptSize) * keptSize : shown
  const scan = useScan(plan, wanted, [plan, pastTime.value, reloads])
  useEffect(() => setShown(pageSize), [plan])
  useEffect(() => {
    if (scan.rows.length > 0) onSeen(scan.rows.slice(0, pageSize))
  }, [scan.rows.length > 0])
  const hasMore = shown < scan.found || (!isSorted && !scan.isComplete)
  const mayChange = rights.value.writes && pastTime.value === undefined
  return (
    <>
      <div class="row-facts">
        <ScanFacts scan={scan} plan={plan} reloads={reloads} />
        {mayChange && (
          <BulkChanges
            {...{ collection, plan, fields }}
            conditions={plan.filter.map(conditionText)}
            isEmpty={scan.isComplete && scan.found === 0}
            onChanged={() => setReloads(reloads + 1)}
          />
        )}
      </div>
      {scan.error && <Problem error={scan.error} retry={scan.resume} />}
      {scan.scanned >= slowFrom && mayChange && (
        <IndexOffer collection={collection} plan={plan} onCreated={onIndex} />
      )}
      {scan.rows.length === 0 && !scan.isRunning && scan.isComplete ? (
        <p class="empty">No documents match. Remove or change a filter.</p>
      ) : (
        scan.rows.length > 0 && (
          <RowPage {...props} rows={scan.rows.slice(0, shown)} isLive={false} onChanged={scan.refresh}>
            {hasMore && !scan.isRunning && (
              <Button onClick={() => setShown(shown + pageSize)}>Show more</Button>
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
  readonly reloads: number
}

function ScanFacts({ scan, plan, reloads }: ScanFactsProps) {
  const { found, isComplete, isRunning, scanned } = scan
  const estimate = useEstimate(plan.source, scan)
  const progress = `${found} found so far; ${scanned} documents scanned${estimate}${isRunning ? '…' : '.'}`
  return (
    <>
      <span role="status">{isComplete ? `${found} found.` : progress}</span>
      {isRunning && <Button onClick={scan.stop}>Stop</Button>}
      {/* With rows and without a sort order, the button Show more continues the scan. */}
      {!isRunning && !isComplete && (plan.sort !== undefined || found === 0) && (
        <Button onClick={scan.resume}>Continue</Button>
      )}
      {!isRunning && !isComplete && <CountAll key={reloads} plan={plan} />}
    </>
  )
}
