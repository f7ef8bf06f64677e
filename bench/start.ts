// The case `start`: the cost of a start. Measures the CPU time from the start to the first response on an empty
// directory. Also compares the CPU time of the first slow query of a process with that of later slow queries. CPU time
// depends least on other load.

import { join } from 'node:path'
import { send } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { processorMs, serverMs } from './measure.ts'

/** CPU milliseconds; for slow queries those of all processes of the service. */
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
/** Milliseconds after which a slow-lane process has finished its warm-up. */
const restMs = 8000
const laterQueries = 5

/**
 * Measures one start. The first start of a new version takes longer, because it compiles code that later starts find in
 * the cache.
 */
export async function measureStart(): Promise<StartResult> {
  const program = join(repository, 'bin/terrarium.js')
  const server = await startProcess({ program, flags: ['--slow-lane-after-ms', '20'] })
  try {
    const ask = (query: unknown) => send(server, { secret: server.rootSecret, query })
    await ask({ add: [1, 2] })
    const startMs = processorMs(server.pid)
    await new Promise(resolve => setTimeout(resolve, restMs))
    const takenBy = async () => {
      const before = serverMs(server.pid)
      await ask(slow)
      return serverMs(server.pid) - before
    }
    const firstSlowMs = await takenBy()
    const others: number[] = []
    for (let query = 0; query < laterQueries; query++) others.push(await takenBy())
    return { startMs, firstSlowMs, laterSlowMs: Math.min(...others) }
  } finally {
    await server.stop()
  }
}
