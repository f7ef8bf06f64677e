// Puts the program, under both its names, among those of the clone. Without that `npx terrarium-db` installs the clone
// into a cache of npm's, at each call, and warns each time when its own Node is older than the one that the project brings.

import { rmSync, symlinkSync } from 'node:fs'

for (const name of ['terrarium', 'terrarium-db']) {
  const link = new URL(`../node_modules/.bin/${name}`, import.meta.url)
  rmSync(link, { force: true })
  try {
    symlinkSync('../../bin/terrarium.js', link)
  } catch (error) {
    // Where links need rights of their own, npx goes the long way.
    if (error.code !== 'EPERM' && error.code !== 'ENOENT') throw error
  }
}
