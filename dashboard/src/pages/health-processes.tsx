// The processes of the service, on this machine and on others that share its store.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText, percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'

/** The table of processes, and of nodes where several machines share a store. */
export function HealthProcesses({ health }: { health: ServiceHealth }) {
  const { processes, workers, node } = health
  const missing = workers - processes.filter(process => process.node === node).length
  const isShared = processes.some(({ standing }) => standing !== null)
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <p class="hint">
        {isShared
          ? 'All machines over the shared store. Lag is how old reads may be: some milliseconds are normal, seconds mean that the database of the store is slow or away. One process of all works in the background.'
          : 'All that serve this data directory. One of them works in the background: it builds indexes and removes what is past.'}
        {missing > 0 && ` ${missing} more will tell of themselves in a second or two.`}
      </p>
      <Table
        label="Table of processes"
        columns={[
          'Node',
          'Process',
          'Memory',
          'Busy since its start',
          'Requests',
          'Background',
          ...(isShared ? standingColumns : []),
        ]}
      >
        {[...processes].sort(inOrder).map(process => (
          <Row key={`${process.node} ${process.pid}`} process={process} isShared={isShared} />
        ))}
      </Table>
    </section>
  )
}

const inOrder = (left: ProcessReport, right: ProcessReport) =>
  left.node === right.node ? left.worker - right.worker : left.node < right.node ? -1 : 1

const standingColumns = ['Newest batch', 'Behind', 'Lag', 'Fault']

function Row({ process, isShared }: { process: ProcessReport; isShared: boolean }) {
  const { busy_ms: busy, counts, idle_ms: idle, node, pid, standing, worker } = process
  return (
    <tr>
      <td>
        <bdi>{node}</bdi>
      </td>
      <td>
        {worker} (pid {pid})
      </td>
      <td>{bytesText(process.memory_bytes)}</td>
      <td>{percentText(busy / Math.max(1, busy + idle))}</td>
      <td>{counts.requests}</td>
      <td>{process.works_in_background ? 'yes' : ''}</td>
      {isShared && (
        <>
          <td>{standing?.head ?? ''}</td>
          <td>{standing ? `${standing.behind} batches` : ''}</td>
          <td>{standing ? `${standing.lag_ms} ms` : ''}</td>
          <td>
            <bdi>{standing?.fault ?? ''}</bdi>
          </td>
        </>
      )}
    </tr>
  )
}
