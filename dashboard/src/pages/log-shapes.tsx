// Query shapes (queries without their values), by mean time, frequency, cost or longest time.

import { useState } from 'preact/hooks'
import { Choice } from '../parts/fields.tsx'
import { buttons, numbers, Table } from '../parts/table.tsx'
import { cut } from '../parts/values.tsx'
import { type LogSummary, type LogSums, meanTime, operations } from '../service/logs.ts'
import { RequestsButton, showShape } from './log-tables.tsx'

type Shape = LogSummary['shapes'][number]

const orders = {
  slowest: { text: 'highest mean time', by: meanTime },
  frequent: { text: 'most frequent', by: (sums: LogSums) => sums.requests },
  expensive: { text: 'most expensive', by: operations },
  longest: { text: 'highest maximum time', by: (sums: LogSums) => sums.query_time_max_ms },
} as const

type Order = keyof typeof orders

const shownMax = 20
const shapeChars = 300

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
          label="Sort by"
          value={order}
          onChange={setOrder}
          options={Object.entries(orders).map(([name, { text }]) => [name as Order, text] as const)}
        />
      </header>
      <Table
        label="Table of queries"
        columns={[
          'Shape',
          numbers('Requests'),
          numbers('Errors'),
          numbers('Mean ms'),
          numbers('Max ms'),
          numbers('Read ops'),
          numbers('Write ops'),
          numbers('Compute ops'),
          buttons('Actions'),
        ]}
      >
        {sorted.map(each => (
          <tr key={each.shape}>
            <td class="wrap mono shape">
              <bdi>{cut(each.shape || '(no query)', shapeChars)}</bdi>
            </td>
            <td class="number">{each.requests.toLocaleString('en')}</td>
            <td class="number">{(each.client_errors + each.server_errors).toLocaleString('en')}</td>
            <td class="number">{meanTime(each).toFixed(1)}</td>
            <td class="number">{each.query_time_max_ms.toLocaleString('en')}</td>
            <td class="number">{each.byte_read_ops.toLocaleString('en')}</td>
            <td class="number">{each.byte_write_ops.toLocaleString('en')}</td>
            <td class="number">{each.compute_ops.toLocaleString('en')}</td>
            <td>
              {each.shape !== '' && <RequestsButton of={each.shape} onClick={() => showShape(each.shape)} />}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
