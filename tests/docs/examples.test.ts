// Plays the pages that teach: every `sh` and `js` block of a page, from top to bottom, against a server of its own,
// as a reader who pastes them would. What a block says it prints (`// prints …`) is what it has to print.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertSound, repository, temporaryFolder } from '../support/program.ts'
import { startServer } from '../support/server.ts'
import { files, read } from '../tidy/sources.ts'

const pages = ['README.md', ...files('docs/guides/*.md')]
const timeoutMs = 120_000

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly failed: boolean
}

/** The contents of the fenced blocks of a language. */
function blocks(page: string, language: string): string {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))
  return [...found].map(([, text]) => text).join('\n')
}

/** Runs both kinds of blocks in `folder`: first the shell's, whose variables the script then has, as on the pages. */
async function play(folder: string, shell: string, script: string): Promise<Output> {
  // Pasted into Node, the blocks may await; in a file that takes a function around them.
  await writeFile(join(folder, 'page.cjs'), `(async () => {\n${script}\n})()`)
  const program = `set -e\n{\n${shell}\n} > shell.out\n"${process.execPath}" page.cjs`
  const env = { ...process.env, NODE_PATH: join(repository, 'node_modules') }
  return new Promise(resolve => {
    execFile('bash', ['-c', program], { cwd: folder, env, timeout: timeoutMs }, (error, stdout, stderr) => {
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
      const server = await startServer({ data, env: { TERRARIUM_ROOT_SECRET: undefined } })
      try {
        const { port } = new URL(server.url)
        const shell = blocks(text, 'sh').replaceAll('8443', port)
        const script = blocks(text, 'js').replaceAll('8443', port)
        assert.ok(script.length > 0, 'a page that teaches has examples')
        const { stdout, stderr, failed } = await play(folder, shell || ':', script)
        assert.ok(!failed, stderr)
        const expected = [...script.matchAll(/^\s*\/\/ prints (.*)$/gm)].map(([, line]) => line)
        assert.deepEqual(stdout.trimEnd().split('\n'), expected)
      } finally {
        await server.stop()
      }
      await assertSound(data)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}
