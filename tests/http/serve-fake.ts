// The `serve` command over a fake engine, as a program: for tests of starting and stopping alone.
// A query takes as many milliseconds as FAKE_DELAY_MS says.

import { wait } from '../../src/base/timers.ts'
import { serveCommand } from '../../src/cli/commands/serve.ts'
import { dispatch } from '../../src/cli/dispatch.ts'
import { fakeEngine, resource } from './fake-engine.ts'

const serve = serveCommand(async () => {
  const engine = fakeEngine()
  engine.answer = async request => {
    await wait(Number(process.env.FAKE_DELAY_MS ?? 0))
    return resource(request.body ?? 'null')
  }
  return { engine, check: () => [], close: async () => {} }
})

process.exit(await dispatch([serve], process.argv.slice(2)))
