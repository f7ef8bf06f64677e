// Links the program under both its names into the clone's `node_modules/.bin`. Otherwise each `npx terrarium-db`
// installs the clone into npm's cache, and warns if npm's own Node is older than the Node of the project.

import { rmSync, symlinkSync } from 'node:fs'

for (const name of ['terrarium', 'terrarium-db']) {
  const link = new URL(`../node_modules/.bin/${name}`, import.meta.url)
  rmSync(link, { force: true })
  try {
    symlinkSync('../../bin/terrarium.js', link)
  } catch (error) {
    // Where links need special rights, or without installed packages, npx still works, only slower.
    if (error.code !== 'EPERM' && error.code !== 'ENOENT') throw error
  }
}
