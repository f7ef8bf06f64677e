// Loads several test files into this process. The command line names them by their paths from the repository's root.
// Each file becomes a suite with its path as the name, so its hooks run before and after its own tests. See
// scripts/test-plan.ts. A process that does not exit after its last test fails: a failed test may have left a server or a
// timer behind, and the run would wait for it.

import { join } from 'node:path'
import { after, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { patience } from './patience.ts'
import { repository } from './program.ts'
import { closeShared, shareBetweenFiles } from './shared.ts'

const files = process.argv.slice(2)
/**
 * Milliseconds that the process may take to exit after its last test; the environment variable shortens the time for
 * the test of this file.
 */
const exitTimeoutMs = Number(process.env.TEST_EXIT_TIMEOUT_MS) || patience(15_000)

function exitWithHandles(): void {
  const handles = process.getActiveResourcesInfo().join(', ')
  console.error(
    `the process of ${files.join(', ')} did not exit after its last test; open handles: ${handles}`,
  )
  process.exit(1)
}

shareBetweenFiles()
after(closeShared)
after(() => setTimeout(exitWithHandles, exitTimeoutMs).unref())

for (const file of files) {
  describe(file, async () => {
    await import(pathToFileURL(join(repository, file)).href)
  })
}
