// The processes of the service, on this machine and on others that share its store.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText, percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'

/** The table of processes. It also shows the replication state of each node where several machines share a store. */
export function HealthProcesses({ health }: { health: ServiceHealth }) {
  const { processes, workers, node } = health
  const missing = workers - processes.filter(process => process.node === node).length
  const isShared = processes.some(({ standing }) => standing !== null)
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <p class="hint">
        {isShared
          ? 'The processes of all machines that share the store. Lag is the age of the data that reads return. Some milliseconds are normal; seconds mean that the database behind the store is slow or unreachable. One process runs the background work.'
          : 'The processes that serve this data directory. One of them runs the background work: it builds indexes and removes expired data.'}
        {missing > 0 && ` ${missing} more will appear in a second or two.`}
      </p>
      <Table
        label="Table of processes"
        columns={[
          'Node',
          'Process',
          'Memory (RSS)',
          'Event loop utilization since start',
          'Requests',
          'Background',
          ...(isShared ? replicationColumns : []),
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

const replicationColumns = ['Applied batch', 'Batches behind', 'Lag', 'Fault']

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
          <td>{standing ? standing.behind : ''}</td>
          <td>{standing ? `${standing.lag_ms} ms` : ''}</td>
          <td>
            <bdi>{standing?.fault ?? ''}</bdi>
          </td>
        </>
      )}
    </tr>
  )
}
