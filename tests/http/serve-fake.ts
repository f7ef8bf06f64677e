// The `serve` command on a fake engine as a program, for tests of starting and stopping. A query takes FAKE_DELAY_MS
// milliseconds.

import { wait } from '../../src/base/timers.ts'
import { serveCommand } from '../../src/cli/commands/service.ts'
import { dispatch } from '../../src/cli/dispatch.ts'
import { fakeEngine, resource } from './fake-engine.ts'

async function open() {
  const engine = fakeEngine()
  engine.answer = async request => {
    await wait(Number(process.env.FAKE_DELAY_MS ?? 0))
    return resource(request.body ?? 'null')
  }
  return {
    engine,
    pendingWork: () => ({ builds: [], buildsCount: 0, removals: 0 }),
    close: async () => {},
  }
}

const faked = {
  ...serveCommand,
  run: async ({ config }) => (await import('../../src/cli/actions/serve.ts')).serve(config, open),
} satisfies typeof serveCommand
process.exit(await dispatch([faked], process.argv.slice(2)))
