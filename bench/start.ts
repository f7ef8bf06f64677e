// What a start costs: from nothing to the first answer over an empty folder, and the first slow query of a process beside
// the same later. Measured as time of the processor, which a busy machine changes least.

import { join } from 'node:path'
import { send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { processesOf, processorMs } from './measure.ts'

/** Milliseconds; of slow queries those of all processes of the service. */
export interface StartResult {
  readonly startMs: number
  readonly firstSlowMs: number
  readonly laterSlowMs: number
}

const slow = {
  sum: {
    map: { lambda: 'x', expr: { add: [{ var: 'x' }, 1] } },
    collection: Array.from({ length: 60_000 }, (_, number) => number),
  },
}
/** How long a process of the slow lane has to become ready and warm. */
const restMs = 8000
const later = 5

/** Starts the built program once; the first start of all compiles what later ones find. */
export async function measureStart(): Promise<StartResult> {
  const program = join(repository, 'bin/terrarium.js')
  const server = await startProcess({ program, flags: ['--slow-lane-after-ms', '20'] })
  try {
    const ask = (query: unknown) => send(server, { secret: server.rootSecret, query })
    await ask({ add: [1, 2] })
    const startMs = processorMs(server.pid)
    await new Promise(resolve => setTimeout(resolve, restMs))
    const takenBy = async () => {
      const sum = () => processesOf(server.pid).reduce((ms, pid) => ms + processorMs(pid), 0)
      const before = sum()
      await ask(slow)
      return sum() - before
    }
    const firstSlowMs = await takenBy()
    const others: number[] = []
    for (let query = 0; query < later; query++) others.push(await takenBy())
    return { startMs, firstSlowMs, laterSlowMs: Math.min(...others) }
  } finally {
    await server.stop()
  }
}
