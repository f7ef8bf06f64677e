// Single records of the log, searched and filtered.

import { useEffect, useState } from 'preact/hooks'
import { Choice, Field } from '../parts/fields.tsx'
import { Loaded, useLoad } from '../parts/load.tsx'
import { cut } from '../parts/values.tsx'
import { databasePath } from '../router.ts'
import { type LogRecord, type RecordFilter, type Span, searchRecords } from '../service/logs.ts'
import { session } from '../session.ts'

const everything: RecordFilter = { text: '', statusClass: '', slowerThanMs: 0 }
const shapeChars = 200

/** The section of single records. */
export function LogRecords({ span }: { span: Span }) {
  const [text, setText] = useState('')
  const [statusClass, setStatusClass] = useState('')
  const [slower, setSlower] = useState('')
  const [filter, setFilter] = useState(everything)
  const [trail, setTrail] = useState<readonly string[]>([])
  useEffect(() => setTrail([]), [span, filter])
  const page = useLoad(
    signal => searchRecords(span, filter, trail.at(-1), signal),
    [span, filter, trail, databasePath.value.join('/')],
  )
  const search = (event: Event) => {
    event.preventDefault()
    setFilter({ text: text.trim(), statusClass, slowerThanMs: Number(slower) || 0 })
  }
  return (
    <section aria-labelledby="records">
      <h2 id="records">Requests</h2>
      <form class="inline-form toolbar" onSubmit={search}>
        <Field label="Holds the text" type="search" value={text} onInput={setText} />
        <Choice
          label="Status"
          value={statusClass}
          onChange={setStatusClass}
          options={[
            ['', 'any'],
            ['2xx', 'succeeded'],
            ['4xx', 'refused (4xx)'],
            ['5xx', 'failed (5xx)'],
          ]}
        />
        <Field label="Slower than (ms)" type="number" value={slower} onInput={setSlower} />
        <button type="submit">Search</button>
      </form>
      <Loaded of={page}>
        {({ records, next_token }) => (
          <>
            {records.length === 0 ? (
              <p class="empty">No request is like this.</p>
            ) : (
              <RecordTable records={records} />
            )}
            <div class="pager">
              {trail.length > 0 && (
                <button type="button" onClick={() => setTrail(trail.slice(0, -1))}>
                  ← Newer
                </button>
              )}
              {next_token !== null && (
                <button type="button" onClick={() => setTrail([...trail, next_token])}>
                  Older →
                </button>
              )}
            </div>
          </>
        )}
      </Loaded>
    </section>
  )
}

function RecordTable({ records }: { records: readonly LogRecord[] }) {
  const own = [...(session.value?.principal.database ?? []), ...databasePath.value]
  return (
    <section class="table-scroll" tabIndex={0} aria-label="Table of requests">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              ms
            </th>
            <th scope="col">Query</th>
            <th scope="col">Database</th>
            <th scope="col">Tags</th>
            <th scope="col" class="number">
              Operations
            </th>
          </tr>
        </thead>
        <tbody>
          {records.map((record, at) => (
            <tr key={at}>
              <td>{record.TS}</td>
              <td class={Number(record.RESPONSE_CODE) >= 400 ? 'status-bad' : undefined}>
                {record.RESPONSE_CODE}
              </td>
              <td class="number">{record.QUERY_TIME_MS}</td>
              <td class="wrap mono shape">
                <bdi>{cut(record.FQL_SHAPE || '–', shapeChars)}</bdi>
              </td>
              <td>
                <bdi>{record.DATABASE.slice(own.length).join('/') || 'this one'}</bdi>
              </td>
              <td>
                {Object.entries(record.TAGS)
                  .map(([key, value]) => `${key}=${value}`)
                  .join(' ')}
              </td>
              <td class="number">{record.BYTE_READ_OPS + record.BYTE_WRITE_OPS + record.COMPUTE_OPS}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
