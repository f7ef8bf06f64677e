// Exports of the query log: a button that requests an export, and a table with the state and a download button of each
// export.

import { Button } from '../parts/button.tsx'
import { useEvery } from '../parts/live.ts'
import { LoadedContent, useAction, useLoad } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { Table } from '../parts/table.tsx'
import { localTime } from '../parts/time.tsx'
import { type ExportRequest, listExports, readExport, requestExport, type Span } from '../service/logs.ts'

const watchEveryMs = 1500
const unfinished = new Set(['Requested', 'Pending', 'CreatingNewUrl'])

const stateTexts: Readonly<Record<string, string>> = {
  Requested: 'requested',
  Pending: 'in progress…',
  CreatingNewUrl: 'creating a new download link…',
  Complete: 'ready',
  DoesNotExist: 'no requests in this period',
  Failed: 'failed',
  TimedOut: 'timed out',
}

export function LogExports({ span }: { span: Span }) {
  const action = useAction()
  const exports = useLoad(listExports, [])
  const isWatching = exports.data?.some(({ state }) => unfinished.has(state)) === true
  useEvery(isWatching ? watchEveryMs : undefined, exports.reload)
  const request = () =>
    action.start(async signal => {
      await requestExport(span, signal)
      exports.reload()
    })
  return (
    <section aria-labelledby="exports">
      <header class="section-head">
        <h2 id="exports">Exports</h2>
        <Button disabled={action.isRunning} onClick={request}>
          Export this period
        </Button>
      </header>
      {action.error && <Problem error={action.error} />}
      <LoadedContent of={exports}>
        {list =>
          list.length === 0 ? (
            <p class="hint">
              There are no exports. An export is one gzip file with a JSON object for each request in the
              period chosen above.
            </p>
          ) : (
            <ExportTable list={list} />
          )
        }
      </LoadedContent>
    </section>
  )
}

function ExportTable({ list }: { list: readonly ExportRequest[] }) {
  return (
    <Table label="Table of exports" columns={['From', 'To', 'State', 'File']}>
      {list.map(each => (
        <tr key={each.request_id}>
          <td>{localTime(Date.parse(each.time_start))}</td>
          <td>{localTime(Date.parse(each.time_end))}</td>
          <td>{stateTexts[each.state] ?? each.state}</td>
          <td>{each.state === 'Complete' && <Download id={each.request_id} />}</td>
        </tr>
      ))}
    </Table>
  )
}

/** Requests a new download link at each click, because an older link may have expired. */
function Download({ id }: { id: string }) {
  const action = useAction()
  const fetchFile = () =>
    action.start(async signal => {
      const { presigned_url: address, state } = await readExport(id, signal)
      if (address === undefined)
        throw new Error(`The export is not ready (${stateTexts[state] ?? state}). Try again in a moment.`)
      const link = document.createElement('a')
      link.href = address
      link.download = `${id}.gz`
      link.click()
    })
  return (
    <>
      <Button disabled={action.isRunning} onClick={fetchFile}>
        Download
      </Button>
      {action.error && <Problem error={action.error} />}
    </>
  )
}
