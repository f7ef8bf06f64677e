// Loads several test files into this process. The command line names them by their paths from the repository's root.
// Each file becomes a suite with its path as the name, so its hooks run before and after its own tests. See
// scripts/test-plan.ts. A process that does not exit after its last test fails: a failed test may have left a server or
// a timer behind, and the run would wait for it.
//
// To find the test that an uncaught error belongs to, `node:test` follows every promise of the process with an async
// hook, which takes a third of the CPU time of tests that run a service. So the hook is off while tests run, and an
// uncaught error ends the process.

import { createHook } from 'node:async_hooks'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { patience } from './patience.ts'
import { repository } from './program.ts'
import { closeShared, shareBetweenFiles } from './shared.ts'

const files = process.argv.slice(2)
/** The environment variable shortens the time for the test of this file. */
const exitTimeoutMs = Number(process.env.TEST_EXIT_TIMEOUT_MS) || patience(15_000)

function exitWithHandles(): void {
  const handles = process.getActiveResourcesInfo().join(', ')
  console.error(
    `the process of ${files.join(', ')} did not exit after its last test; open handles: ${handles}`,
  )
  process.exit(1)
}

/** Without its hook, `node:test` cannot fail a test that waits for an event which an uncaught error has prevented. */
function exitWithError(error: unknown): void {
  console.error(`an uncaught error in the process of ${files.join(', ')}:`, error)
  process.exit(1)
}

/** Switches off the async hook of `node:test`, after registering a hook for the end of the run. */
function asyncHookSwitch(): () => void {
  const prototype = Object.getPrototypeOf(createHook({})) as ReturnType<typeof createHook>
  const { enable } = prototype
  let enabled: ReturnType<typeof createHook> | undefined
  prototype.enable = function () {
    enabled = this
    return enable.call(this)
  }
  // The first registration makes `node:test` create and enable its hook.
  after(closeShared)
  prototype.enable = enable
  return () => {
    enabled?.disable()
    process.prependListener('uncaughtException', exitWithError)
    process.prependListener('unhandledRejection', exitWithError)
  }
}

shareBetweenFiles()
const switchOffAsyncHook = asyncHookSwitch()
after(() => setTimeout(exitWithHandles, exitTimeoutMs).unref())

// Tests find the suite of their file through the async hook, so no test starts before all files are loaded.
const loads: Promise<unknown>[] = []
const started = Promise.withResolvers<void>()
const allLoaded = started.promise.then(() => Promise.allSettled(loads)).then(switchOffAsyncHook)
for (const file of files) {
  describe(file, async () => {
    const load = import(pathToFileURL(join(repository, file)).href)
    loads.push(load)
    await load
    await allLoaded
  })
}
started.resolve()
