// The layers of `src` from bottom to top, and the folders that each may import, from the table in ARCHITECTURE.md. A
// folder may always import itself and `base`, which is not repeated. `import type` counts, too. A subfolder that is
// listed here is a separate layer and not part of the outer folder.

import { readFileSync } from 'node:fs'

/** Every layer may import these, because they import no layer. */
export const open = ['base'] as const

/** Returns the table of layers on a page: each layer with the layers that it may import. */
export function layersIn(page: string): Readonly<Record<string, readonly string[]>> {
  const rows = page.matchAll(/^\| `([\w./-]+)` \| [^|]* \| ([^|]*) \|$/gm)
  return Object.fromEntries(
    [...rows].map(([, layer = '', imports = '']) => [
      layer,
      [...imports.matchAll(/`([\w./-]+)`/g)].map(([, name = '']) => name),
    ]),
  )
}

export const layers = layersIn(readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8'))

/** The layer of a file: the longest prefix of its path below `src/` that is a layer, else the first folder. */
export function layerOf(path: string): string {
  const steps = path.split('/').slice(1)
  for (let count = steps.length; count > 1; count--) {
    const layer = steps.slice(0, count).join('/')
    if (layer in layers) return layer
  }
  return steps[0] ?? ''
}
