// Checks that a version can be published; prints each fault and exits with 1 if there are any.
//
//     node scripts/check-release.ts
//
// The changelog must have a dated section for the version, and the work tree must be clean. The tarball must contain
// the right files, all with compatible licences. The npm signatures of the installed packages must be valid, if they
// can be checked.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readOptions } from './command-line.ts'

readOptions({
  usage: 'npx node scripts/check-release.ts\n\nChecks that a version can be published.',
  options: {},
})

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  /** A folder of this repository. */
  readonly link?: boolean
}

/** A package under Apache 2.0 may include these if it names them. */
const allowedLicenses = new Set([
  'Apache-2.0',
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
])
/** Files that the package must contain, but `package.json` does not name. */
const otherFiles = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'dist/program/main.js',
  'dashboard/dist/index.html',
  'dashboard/dist/licenses.md',
]
const forbidden = /^(src|tests|bench|node_modules|data|\.)/

const faults: string[] = []
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const { version, ...manifest } = JSON.parse(read('package.json')) as {
  readonly version: string
  readonly main: string
  readonly types: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: unknown
}

/** Returns the paths in a part of `package.json`. */
function pathsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part.replace(/^\.\//, '')]
  return Object.values(part as object).flatMap(pathsIn)
}

function checkVersion(): void {
  const heading = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\((.*)\\)$`, 'm').exec(
    read('CHANGELOG.md'),
  )
  if (!heading) faults.push(`CHANGELOG.md has no section "## ${version} (…)"`)
  else if (!/^\d{4}-\d{2}-\d{2}$/.test(heading[1] as string)) {
    faults.push(`the section of ${version} in CHANGELOG.md has no date: "${heading[1]}"`)
  }
  const locked = JSON.parse(read('package-lock.json')) as { readonly version: string }
  if (locked.version !== version) faults.push(`package-lock.json has version ${locked.version}`)
  const changes = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' })
  if (changes !== '') faults.push('the work tree has changes that are not committed')
}

function checkTarball(): void {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--silent'], { encoding: 'utf8' })
  const [packed] = JSON.parse(output.slice(output.indexOf('['))) as [
    { readonly files: readonly { readonly path: string }[] },
  ]
  const paths = new Set(packed.files.map(({ path }) => path))
  const named = pathsIn([manifest.main, manifest.types, manifest.bin, manifest.exports])
  for (const path of new Set([...named, ...otherFiles]))
    if (!paths.has(path)) faults.push(`the tarball lacks ${path}`)
  for (const path of paths) if (forbidden.test(path)) faults.push(`the tarball contains ${path}`)
}

function checkLicenses(): void {
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  for (const [path, { license, dev, devOptional, link }] of Object.entries(lock.packages)) {
    if (path === '' || dev || devOptional || link) continue
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const choices = license?.replace(/[()]/g, '').split(' OR ') ?? []
    if (!choices.some(choice => allowedLicenses.has(choice))) {
      faults.push(`${name} has the licence ${license ?? '(none named)'}`)
    }
  }
  const bundled = [...read('dashboard/dist/licenses.md').matchAll(/^## (\S+) - \S+ \((.*)\)$/gm)]
  if (bundled.length === 0) faults.push('dashboard/dist/licenses.md names no package')
  for (const [, name, license = ''] of bundled)
    if (!allowedLicenses.has(license)) faults.push(`${name}, in the dashboard, has the licence ${license}`)
}

/** If the registry cannot be reached or has no signatures, prints a message, which is not a fault. */
function checkSignatures(): void {
  const { status, stdout, stderr } = spawnSync('npm', ['audit', 'signatures'], { encoding: 'utf8' })
  const text = `${stdout}${stderr}`
  if (status === 0) return
  if (/invalid|tampered/i.test(text)) faults.push(`npm audit signatures: ${text.trim()}`)
  else {
    const reasons = text.split('\n').filter(line => /^npm error .*(failed|not|ENOTFOUND)/.test(line))
    const reason = reasons.at(-1)?.replace('npm error ', '') ?? text.trim()
    console.error(
      `not checked: the signatures of npm packages, because npm audit signatures failed: ${reason}`,
    )
  }
}

checkVersion()
checkTarball()
checkLicenses()
checkSignatures()
for (const fault of faults) console.error(`- ${fault}`)
console.log(faults.length === 0 ? `${version} can be released` : `${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
