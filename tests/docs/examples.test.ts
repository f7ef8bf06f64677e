// Runs the examples of the guides: every `sh` and `js` block of a page, from top to bottom, against its own server, as
// if a reader pasted them. Each block must print the text of its comments `// prints …`. The file takes more than 20
// seconds, because most blocks start processes.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { patience } from '../support/patience.ts'
import { program, repository, temporaryFolder } from '../support/program.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'
import { files, read } from '../tidy/sources.ts'

const pages = ['README.md', ...files('docs/guides/*.md')].filter(page => /^```(js|sh)$/m.test(read(page)))

test('pages with examples are found', () => {
  assert.ok(pages.length >= 5, pages.join())
})

const timeoutMs = patience(120_000)

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly failed: boolean
}

/** The contents of the fenced blocks of a language. */
function blocks(page: string, language: string): readonly string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))
  return [...found].map(([, text = '']) => text)
}

/**
 * A block that begins with the name of a file becomes that file; all other blocks are pasted into Node one after the
 * other.
 */
function filesOf(script: readonly string[]): ReadonlyMap<string, string> {
  const named = new Map<string, string>()
  const pasted: string[] = []
  for (const text of script) {
    const name = /^\/\/ (\S+\.cjs)\n/.exec(text)?.[1]
    if (name === undefined) pasted.push(text)
    else named.set(name, text)
  }
  // Blocks may use `await`, which Node's prompt allows; a file needs an async function around them.
  if (pasted.length > 0) named.set('page.cjs', `(async () => {\n${pasted.join('\n')}\n})()`)
  return named
}

/**
 * Runs both kinds of blocks in `folder`: first those of the shell, whose variables are then available to the scripts.
 */
async function play(folder: string, shell: string, script: readonly string[]): Promise<Output> {
  const scripts = filesOf(script)
  for (const [name, text] of scripts) await writeFile(join(folder, name), text)
  // In a clone, `npx terrarium-db` and `npx node` run local programs; in another folder, npx would download them.
  const npx = `npx() { local name=$1; shift; [ "$name" != terrarium-db ] || set -- "${program}" "$@"; "${process.execPath}" "$@"; }`
  const runs = [...scripts.keys()].map(name => `"${process.execPath}" ${name}`)
  const commands = `set -e\n${npx}\n{\n${shell}\n} > shell.out\n${runs.join('\n')}`
  const env = { ...process.env, NODE_PATH: join(repository, 'node_modules'), XDG_STATE_HOME: folder }
  return new Promise(resolve => {
    execFile('bash', ['-c', commands], { cwd: folder, env, timeout: timeoutMs }, (error, stdout, stderr) => {
      resolve({ stdout, stderr, failed: error !== null })
    })
  })
}

for (const page of pages) {
  test(`the examples of ${page} work`, { timeout: 2 * timeoutMs }, async () => {
    const text = read(page)
    const folder = await temporaryFolder()
    try {
      const data = join(folder, 'data')
      const env = { TERRARIUM_ROOT_SECRET: undefined }
      const server = await startProcess({ data, env, flags: withoutSlowLane })
      try {
        const { port } = new URL(server.url)
        const here = (block: string) => block.replaceAll('8443', port)
        const shell = blocks(text, 'sh').map(here).join('\n')
        const script = blocks(text, 'js').map(here)
        const { stdout, stderr, failed } = await play(folder, shell || ':', script)
        assert.ok(!failed, stderr)
        const expected = [...script.join('\n').matchAll(/^\s*\/\/ prints (.*)$/gm)].map(([, line]) => line)
        assert.deepEqual(stdout === '' ? [] : stdout.trimEnd().split('\n'), expected)
        const shown = [...shell.matchAll(/^# prints (.*)$/gm)].map(([, line]) => line)
        const printed = (await readFile(join(folder, 'shell.out'), 'utf8')).trimEnd().split('\n')
        if (shown.length > 0) assert.deepEqual(printed, shown)
      } finally {
        await server.stop()
      }
      await assertSound(data)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}
