// Builds the package into `dist` or the given folder: bundles of ES modules and of CommonJS, each with its
// declarations. A `package.json` beside each bundle tells Node and bundlers which kind it is. Without the tools (`npm
// ci --omit=dev`), nothing is built.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = import.meta.dirname
const compiler = join(folder, '../node_modules/.bin/tsc')

async function buildInto(dist) {
  const { build } = await import('vite')
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
        emptyOutDir: true,
        target: 'es2022',
        minify: false,
        reportCompressedSize: false,
        lib: { entry: join(folder, 'src/index.ts'), formats: [format], fileName: () => 'index.js' },
      },
    })
  }
  const types = join(dist, 'module')
  const places = ['--rootDir', join(folder, 'src'), '--outDir', types]
  const words = ['-p', folder, '--noEmit', 'false', '--emitDeclarationOnly', '--declaration']
  const { status } = spawnSync(compiler, [...words, '--rewriteRelativeImportExtensions', ...places], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('cannot write the declarations')
  for (const file of readdirSync(types).filter(name => name.endsWith('.d.ts')))
    cpSync(join(types, file), join(dist, 'commonjs', file))
  writeFileSync(join(dist, 'commonjs/package.json'), '{ "type": "commonjs" }\n')
  writeFileSync(join(dist, 'module/package.json'), '{ "type": "module" }\n')
}

if (existsSync(compiler)) await buildInto(resolve(process.argv[2] ?? join(folder, 'dist')))
