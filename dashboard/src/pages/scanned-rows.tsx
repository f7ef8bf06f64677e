// Rows that no index finds, or sorts: each document is looked at, and how far that is can be seen and stopped.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { Problem } from '../parts/problem.tsx'
import { type Scan, sortedMax, useScan } from '../parts/scan.ts'
import { databasePath, pastTime } from '../router.ts'
import { byTime, type RowPlan } from '../service/row-plan.ts'
import { rights } from '../session.ts'
import { isMap, type Json } from '../wire/json.ts'
import type { Row } from '../wire/rows.ts'
import { IndexOffer } from './index-offer.tsx'
import { RowPage, type ShownProps } from './row-page.tsx'

const pageSize = 50
/** Documents from which on looking at each of them is slow. */
const slowFrom = 1000

/** The rows, as far as they were found. */
export function ScannedRows(props: ShownProps & { readonly onIndex: () => void }) {
  const { collection, plan, onSeen, onIndex } = props
  const isSorted = plan.sort !== undefined
  const [shown, setShown] = useState(pageSize)
  const scan = useScan(plan, isSorted ? sortedMax : pageSize, [
    plan,
    pastTime.value,
    databasePath.value.join('/'),
  ])
  useEffect(() => setShown(pageSize), [plan])
  useEffect(() => {
    if (scan.rows.length > 0) onSeen(scan.rows.slice(0, pageSize))
  }, [scan.rows.length > 0])
  const sorted = useMemo(() => sortedRows(scan.rows, plan), [scan.rows, plan])
  const more = () => {
    setShown(shown + pageSize)
    if (!isSorted && !scan.isComplete && scan.rows.length < shown + pageSize) scan.goOn(shown + pageSize)
  }
  const hasMore = shown < scan.rows.length || (!isSorted && !scan.isComplete)
  const isSlow = scan.looked >= slowFrom && rights.value.writes && pastTime.value === undefined
  return (
    <>
      <ScanFacts scan={scan} isSorted={isSorted} />
      {scan.error && <Problem error={scan.error} retry={() => scan.goOn(shown)} />}
      {isSlow && <IndexOffer collection={collection} plan={plan} onMade={onIndex} />}
      {sorted.length === 0 && !scan.isRunning && scan.isComplete ? (
        <p class="empty">Nothing is found by this.</p>
      ) : (
        sorted.length > 0 && (
          <RowPage {...props} rows={sorted.slice(0, shown)} isLive={false} onChanged={scan.refresh}>
            {hasMore && !scan.isRunning && (
              <button type="button" onClick={more}>
                Show more
              </button>
            )}
          </RowPage>
        )
      )}
    </>
  )
}

function ScanFacts({ scan, isSorted }: { scan: Scan; isSorted: boolean }) {
  const { isComplete, isRunning, looked, rows } = scan
  const found = `${rows.length} found`
  return (
    <p class="row-facts">
      <span role="status">
        {isComplete ? `${found}.` : `${found} so far; ${looked} documents looked at${isRunning ? '…' : '.'}`}
        {isSorted && !isComplete && !isRunning && rows.length >= sortedMax && (
          <> Only the first {sortedMax} that were found are sorted. Filter them, or make an index.</>
        )}
      </span>
      {isRunning && (
        <button type="button" onClick={scan.stop}>
          Stop
        </button>
      )}
      {!isRunning && !isComplete && isSorted && rows.length < sortedMax && (
        <button type="button" onClick={() => scan.goOn(sortedMax)}>
          Go on
        </button>
      )}
    </p>
  )
}

const collator = new Intl.Collator('en')

/** In the order of a field; rows without it stand last in either direction. */
function sortedRows(rows: readonly Row[], { sort }: RowPlan): readonly Row[] {
  if (sort === undefined) return rows
  const { field, isReversed } = sort
  const keyed = rows.map(row => ({ row, value: field === byTime ? row.ts : row.cells.get(field) }))
  const sign = isReversed ? -1 : 1
  return keyed
    .sort((left, right) => {
      const missing = Number(isMissing(left.value)) - Number(isMissing(right.value))
      return missing || sign * compare(left.value ?? null, right.value ?? null)
    })
    .map(({ row }) => row)
}

function isMissing(value: Json | undefined): boolean {
  return value === undefined || value === null
}

function compare(left: Json, right: Json): number {
  const ranks = rankOf(left) - rankOf(right)
  if (ranks !== 0) return ranks
  if (typeof left === 'string' && typeof right === 'string') return collator.compare(left, right)
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0
  const [leftText, rightText] = [textOf(left), textOf(right)]
  return leftText < rightText ? -1 : leftText > rightText ? 1 : 0
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Numbers, then texts, then tagged values such as times, then booleans, then what has parts. */
function rankOf(value: Json): number {
  if (isNumber(value)) return 0
  if (typeof value === 'string') return 1
  if (isMap(value)) return 2
  return typeof value === 'boolean' ? 3 : 4
}

/** The text of a tagged value orders times and dates as they follow each other. */
function textOf(value: Json): string {
  if (!isMap(value)) return String(value)
  const [inner] = value.values()
  return typeof inner === 'string' ? inner : ''
}
