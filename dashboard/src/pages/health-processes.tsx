// The processes of the service, on this machine and on other machines with the same store.

import type { ProcessReport, ServiceHealth } from '../../../src/server/operation/health.ts'
import { bytesText, percentText } from '../parts/quantities.ts'
import { Table } from '../parts/table.tsx'

/** If several machines share a store, also shows the replication state of each node. */
export function HealthProcesses({ health }: { health: ServiceHealth }) {
  const { processes, workers, node } = health
  // The supervisor is not one of the workers.
  const reported = processes.filter(process => process.node === node && process.forwarded === null)
  const missing = workers - reported.length
  const isShared = processes.some(({ standing }) => standing !== null)
  const hasSupervisor = processes.some(({ forwarded }) => forwarded !== null)
  return (
    <section aria-labelledby="processes">
      <h2 id="processes">Processes</h2>
      <p class="hint">
        {isShared
          ? 'The processes of all machines that share the store. Lag is the age of the data that reads return. Some milliseconds are normal; seconds mean that the database behind the store is slow or unreachable. One process runs the background work.'
          : 'The processes of this data directory. With several workers, the supervisor evaluates all writes. One process runs the background work: it builds indexes and removes expired data.'}
        {missing > 0 &&
          ` ${missing} more ${missing === 1 ? 'worker' : 'workers'} will appear in a second or two.`}
      </p>
      <Table
        label="Table of processes"
        columns={[
          'Node',
          'Process',
          'Memory (RSS)',
          'Event loop utilization since start',
          'Requests',
          ...(hasSupervisor ? ['Forwarded writes'] : []),
          'Background',
          ...(isShared ? replicationColumns : []),
        ]}
      >
        {[...processes].sort(inOrder).map(process => (
          <Row
            key={`${process.node} ${process.pid}`}
            process={process}
            isShared={isShared}
            hasSupervisor={hasSupervisor}
          />
        ))}
      </Table>
    </section>
  )
}

const inOrder = (left: ProcessReport, right: ProcessReport) =>
  left.node === right.node ? left.worker - right.worker : left.node < right.node ? -1 : 1

const replicationColumns = ['Applied batch', 'Batches behind', 'Lag', 'Fault']

interface RowProperties {
  readonly process: ProcessReport
  readonly isShared: boolean
  readonly hasSupervisor: boolean
}

function Row({ process, isShared, hasSupervisor }: RowProperties) {
  const { busy_ms: busy, counts, forwarded, idle_ms: idle, node, pid, standing: replica, worker } = process
  return (
    <tr>
      <td>
        <bdi>{node}</bdi>
      </td>
      <td>
        {forwarded === null ? worker : 'supervisor'} (pid {pid})
      </td>
      <td>{bytesText(process.memory_bytes)}</td>
      <td>{percentText(busy / Math.max(1, busy + idle))}</td>
      <td>{forwarded === null ? counts.requests : ''}</td>
      {hasSupervisor && (
        <td>{forwarded ? `${forwarded.operations} (${forwarded.in_flight} in flight)` : ''}</td>
      )}
      <td>{process.works_in_background ? 'yes' : ''}</td>
      {isShared && (
        <>
          <td>{replica?.head ?? ''}</td>
          <td>{replica ? replica.behind : ''}</td>
          <td>{replica ? `${replica.lag_ms} ms` : ''}</td>
          <td>
            <bdi>{replica?.fault ?? ''}</bdi>
          </td>
        </>
      )}
    </tr>
  )
}
