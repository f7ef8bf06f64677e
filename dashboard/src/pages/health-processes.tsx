// The processes of the service, on this machine and on others that share its store.

import { bytesText, percentText } from '../parts/quantities.ts'
import type { Health, ProcessHealth } from '../service/health.ts'

/** The table of processes, and of nodes where several machines share a store. */
export function HealthProcesses({ health }: { health: Health }) {
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
      <section class="table-scroll" tabIndex={0} aria-label="Table of processes">
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Process</th>
              <th scope="col">Memory</th>
              <th scope="col">Busy since its start</th>
              <th scope="col">Requests</th>
              <th scope="col">Background</th>
              {isShared && <StandingHeads />}
            </tr>
          </thead>
          <tbody>
            {[...processes].sort(inOrder).map(process => (
              <Row key={`${process.node} ${process.pid}`} process={process} isShared={isShared} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}

const inOrder = (left: ProcessHealth, right: ProcessHealth) =>
  left.node === right.node ? left.worker - right.worker : left.node < right.node ? -1 : 1

function StandingHeads() {
  return (
    <>
      <th scope="col">Newest batch</th>
      <th scope="col">Behind</th>
      <th scope="col">Lag</th>
      <th scope="col">Fault</th>
    </>
  )
}

function Row({ process, isShared }: { process: ProcessHealth; isShared: boolean }) {
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
