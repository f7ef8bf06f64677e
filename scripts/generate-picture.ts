// Makes the picture of the architecture in ARCHITECTURE.md: the folders of `src` and their imports, from the table of
// layers on the same page. Imports that follow from other imports are left out, so that few arrows remain.

import { layersIn } from '../tests/tidy/layers.ts'

const begin = '<!-- picture of the layers: made by npm run generate -->'
const end = '<!-- end of the picture -->'

const folderOf = (layer: string) => layer.split('/')[0] as string

/** Returns the imports of each folder, from top to bottom. */
function folderImports(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>()
  for (const [layer, allowed] of Object.entries(layersIn(page)).toReversed()) {
    const folder = folderOf(layer)
    const known = imports.get(folder) ?? new Set()
    for (const other of allowed.map(folderOf)) if (other !== folder) known.add(other)
    imports.set(folder, known)
  }
  return imports
}

/** True if `from` also imports `to` through another folder. */
function isIndirect(from: string, to: string, imports: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const seen = new Set<string>()
  const open = [...(imports.get(from) ?? [])].filter(each => each !== to)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === to) return true
    if (seen.has(next)) continue
    seen.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return false
}

export function withLayerPicture(page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error('ARCHITECTURE.md has lost the marks around its picture')
  const imports = folderImports(page)
  const arrows = [...imports].flatMap(([folder, others]) =>
    [...others].filter(other => !isIndirect(folder, other, imports)).map(other => `  ${folder} --> ${other}`),
  )
  const lines = ['```mermaid', 'flowchart TD', ...arrows, '```']
  return `${page.slice(0, from)}${begin}\n\n${lines.join('\n')}\n\n${page.slice(to)}`
}
