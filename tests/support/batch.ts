// Loads several test files into this process. The command line names them by their paths from the repository's root.
// Each file becomes a suite with its path as the name, so its hooks run before and after its own tests. See
// scripts/test-plan.ts.

import { join } from 'node:path'
import { after, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { repository } from './program.ts'
import { closeShared, shareBetweenFiles } from './shared.ts'

shareBetweenFiles()
after(closeShared)

for (const file of process.argv.slice(2)) {
  describe(file, async () => {
    await import(pathToFileURL(join(repository, file)).href)
  })
}
