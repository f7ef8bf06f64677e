// The unmodified command-line tool of version 10 from npm, which pushes schemas. Its package is larger than all other
// dependencies together and contains the whole program in one file. So it is fetched into a temporary folder, without
// its dependencies and without running scripts.

import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { patience } from '../support/patience.ts'
import type { RunningServer } from '../support/server.ts'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)

const release = 'fauna-shell@4.0.0'

/** Errors of npm without access to a registry. */
const offline = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED/

/** The result of a command. */
export interface ShellResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Milliseconds after which a command counts as hung. */
const commandTimeoutMs = patience(60_000)

/** The tool in a folder of its own. */
export class FaunaShell {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Fetches the tool; returns a reason as text if it cannot be fetched. */
  static async fetch(): Promise<FaunaShell | string> {
    const folder = await mkdtemp(join(tmpdir(), 'terrarium-fauna-shell-'))
    try {
      await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, release])
      const tarball = (await readdir(folder)).find(name => name.endsWith('.tgz')) as string
      const members = ['package/dist/cli.cjs', 'package/package.json']
      await run('tar', ['xzf', join(folder, tarball), '-C', folder, ...members])
      await rm(join(folder, tarball))
      await mkdir(join(folder, 'home'))
      return new FaunaShell(folder)
    } catch (cause) {
      await rm(folder, { recursive: true, force: true })
      const { stderr } = cause as { readonly stderr?: string }
      if (!offline.test(stderr ?? '')) throw cause
      return `npm cannot reach a registry to fetch ${release}`
    }
  }

  /** Runs a command with a secret; `answer` is the input for its questions. */
  run(
    server: Pick<RunningServer, 'url'>,
    secret: string,
    words: readonly string[],
    answer = '',
  ): Promise<ShellResult> {
    const program = join(this.#folder, 'package', 'dist', 'cli.cjs')
    const flags = ['--url', server.url, '--secret', secret, '--no-color']
    const child = spawn(process.execPath, [program, ...words, ...flags], {
      cwd: this.#folder,
      env: { ...process.env, HOME: join(this.#folder, 'home'), FAUNA_ENVIRONMENT: undefined },
      stdio: 'pipe',
      timeout: commandTimeoutMs,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdin.end(answer)
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', status => resolve({ status: status ?? -1, stdout, stderr }))
    })
  }

  /** Removes the tool. */
  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }
}

/** The tool for all test files of a process, or the reason why it cannot be fetched: unpacking it takes a second. */
export const sharedShell = shared(FaunaShell.fetch, async shell => {
  if (shell instanceof FaunaShell) await shell.remove()
})
