// Builds what the package ships: one file for modules and one for CommonJS, each with its declarations. Node and bundlers tell the
// kinds apart by the `package.json` beside them.

import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const folder = import.meta.dirname
const dist = join(folder, 'dist')

rmSync(dist, { recursive: true, force: true })
for (const [name, format] of [
  ['module', 'es'],
  ['commonjs', 'cjs'],
]) {
  await build({
    configFile: false,
    root: folder,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir: join(dist, name),
      target: 'es2022',
      minify: false,
      reportCompressedSize: false,
      lib: { entry: join(folder, 'src/index.ts'), formats: [format], fileName: () => 'index.js' },
    },
  })
}
const compiler = join(folder, '../node_modules/.bin/tsc')
const types = join(dist, 'module')
const words = ['-p', folder, '--noEmit', 'false', '--emitDeclarationOnly', '--declaration']
const { status } = spawnSync(
  compiler,
  [...words, '--rewriteRelativeImportExtensions', '--rootDir', join(folder, 'src'), '--outDir', types],
  { stdio: 'inherit' },
)
if (status !== 0) throw new Error('the declarations could not be written')
for (const file of readdirSync(types).filter(name => name.endsWith('.d.ts')))
  cpSync(join(types, file), join(dist, 'commonjs', file))
writeFileSync(join(dist, 'commonjs/package.json'), '{ "type": "commonjs" }\n')
writeFileSync(join(dist, 'module/package.json'), '{ "type": "module" }\n')
copyFileSync(join(folder, '../LICENSE'), join(folder, 'LICENSE'))
