// The shapes of queries that came most often, took longest or cost most.

import { useState } from 'preact/hooks'
import { Choice } from '../parts/fields.tsx'
import { cut } from '../parts/values.tsx'
import type { LogSummary, LogSums } from '../service/logs.ts'
import { RequestsButton, showShape } from './log-tables.tsx'

type Shape = LogSummary['shapes'][number]

const mean = ({ query_time_ms, requests }: LogSums) => (requests === 0 ? 0 : query_time_ms / requests)
const operations = (sums: LogSums) => sums.byte_read_ops + sums.byte_write_ops + sums.compute_ops

const orders = {
  slowest: { text: 'the slowest', by: mean },
  frequent: { text: 'the most frequent', by: (sums: LogSums) => sums.requests },
  expensive: { text: 'the most expensive', by: operations },
  longest: { text: 'those that took longest once', by: (sums: LogSums) => sums.query_time_max_ms },
} as const

type Order = keyof typeof orders

const shownMax = 20
const shapeChars = 300

/** The table of shapes. */
export function LogShapes({ shapes }: { shapes: readonly Shape[] }) {
  const [order, setOrder] = useState<Order>('slowest')
  if (shapes.length === 0) return null
  const { by } = orders[order]
  const sorted = [...shapes].sort((left, right) => by(right) - by(left)).slice(0, shownMax)
  return (
    <section aria-labelledby="shapes">
      <header class="section-head">
        <h2 id="shapes">Queries</h2>
        <Choice
          label="Show first"
          value={order}
          onChange={setOrder}
          options={Object.entries(orders).map(([name, { text }]) => [name as Order, text] as const)}
        />
      </header>
      <section class="table-scroll" tabIndex={0} aria-label="Table of queries">
        <table>
          <thead>
            <tr>
              <th scope="col">Shape</th>
              <th scope="col" class="number">
                Requests
              </th>
              <th scope="col" class="number">
                Errors
              </th>
              <th scope="col" class="number">
                Mean ms
              </th>
              <th scope="col" class="number">
                Longest ms
              </th>
              <th scope="col" class="number">
                Read
              </th>
              <th scope="col" class="number">
                Write
              </th>
              <th scope="col" class="number">
                Compute
              </th>
              <th scope="col">
                <span class="unseen">Look</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(each => (
              <tr key={each.shape}>
                <td class="wrap mono shape">
                  <bdi>{cut(each.shape || '(no query)', shapeChars)}</bdi>
                </td>
                <td class="number">{each.requests.toLocaleString('en')}</td>
                <td class="number">{(each.client_errors + each.server_errors).toLocaleString('en')}</td>
                <td class="number">{mean(each).toFixed(1)}</td>
                <td class="number">{each.query_time_max_ms.toLocaleString('en')}</td>
                <td class="number">{each.byte_read_ops.toLocaleString('en')}</td>
                <td class="number">{each.byte_write_ops.toLocaleString('en')}</td>
                <td class="number">{each.compute_ops.toLocaleString('en')}</td>
                <td>
                  {each.shape !== '' && (
                    <RequestsButton of={each.shape} onClick={() => showShape(each.shape)} />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}
