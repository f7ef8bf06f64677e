// The shell with streams instead of a terminal, against a real service; and once in a real terminal.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { addToHistory, historyFile, readHistory } from '../../src/cli/actions/shell.ts'
import { QueryConnection } from '../../src/cli/client/connection.ts'
import { shellLanguage4 } from '../../src/cli/client/shell-language-4.ts'
import { CommandError } from '../../src/cli/command.ts'
import { runShell } from '../../src/cli/shell/shell.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { program } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()
before(async () => {
  await rootQuery(server, { create_database: { object: { name: 'shop' } } })
  await rootQuery(server, { create_collection: { object: { name: 'users' } } })
  await rootQuery(server, {
    create_index: { object: { name: 'users_by_name', source: { collection: 'users' } } },
  })
})

/** A shell with simulated input, whose output can be awaited. */
class TypedShell {
  readonly #input = new PassThrough()
  readonly #output = new PassThrough()
  readonly entries: string[] = []
  readonly ended: Promise<number>
  readonly #isTerminal: boolean
  #written = ''

  constructor(
    options: { url?: string; isTerminal?: boolean; history?: string[]; files?: Record<string, string> } = {},
  ) {
    this.#isTerminal = options.isTerminal ?? true
    this.#output.setEncoding('utf8').on('data', (text: string) => {
      this.#written += text
    })
    this.ended = runShell({
      connection: new QueryConnection({
        url: options.url ?? server.url,
        secret: server.rootSecret,
        scope: { database: undefined, as: undefined },
        timeoutMs: undefined,
      }),
      input: this.#input,
      output: this.#output,
      isTerminal: this.#isTerminal,
      asJson: false,
      language: shellLanguage4,
      history: options.history ?? [],
      onEntry: entry => this.entries.push(entry),
      readFile: file => {
        const text = options.files?.[file]
        if (text === undefined) throw new CommandError(`${file} cannot be read: it does not exist`)
        return text
      },
    })
  }

  /** Waits for a text in the output, and discards the output up to its end; resolves with the discarded part. */
  async sees(text: string): Promise<string> {
    for (;;) {
      const plain = stripVTControlCharacters(this.#written)
      const at = plain.indexOf(text)
      if (at >= 0) {
        this.#written = plain.slice(at + text.length)
        return plain.slice(0, at)
      }
      await Promise.race([once(this.#output, 'data'), this.ended.then(() => this.#fail(text))])
    }
  }

  #fail(text: string): never {
    throw new Error(`the shell ended without "${text}", after: ${this.#written}`)
  }

  /** Types a text after the prompt. */
  async types(text: string, prompt = 'terrarium> '): Promise<void> {
    await this.sees(prompt)
    this.#input.write(text)
  }

  /** Types a line after the prompt, and waits for a text in the output. */
  async answers(line: string, text: string, prompt?: string): Promise<void> {
    await this.types(`${line}\n`, prompt)
    await this.sees(text)
  }

  /** Types a text at once. */
  presses(text: string): void {
    this.#input.write(text)
  }

  /** Ends the input after the next prompt, or at once without a terminal. */
  async leaves(): Promise<number> {
    if (this.#isTerminal) await this.sees('terrarium> ')
    this.#input.end()
    return this.ended
  }
}

test('queries of one line and of several lines, and their results', async () => {
  const shell = new TypedShell()
  await shell.answers('Add(1, 2)', '\n3\n')
  await shell.types('Map([1, 2],\n')
  await shell.answers('x => Add(x, 1)) // done', '\n[2, 3]\n', '.......... ')
  await shell.answers('Add(1, 1) [Time("2020-01-01T00:00:00Z")]', 'syntax error: ')
  await shell.answers('Add(1, 1); [Time("2020-01-01T00:00:00Z")]', '\n2\n[Time("2020-01-01T00:00:00Z")]\n')
  await shell.types('.exit\n')
  assert.equal(await shell.ended, 0)
  assert.deepEqual(shell.entries, [
    'Add(1, 2)',
    'Map([1, 2],\nx => Add(x, 1)) // done',
    'Add(1, 1); [Time("2020-01-01T00:00:00Z")]',
  ])
})

test('errors are underlined at their position', async () => {
  const shell = new TypedShell()
  await shell.answers(
    '[1, Get(Ref(Collection("users"), "7"))]',
    '\ninstance not found: Document not found.\n',
  )
  await shell.sees('    [1, Get(Ref(Collection("users"), "7"))]\n')
  await shell.sees(`        ${'^'.repeat('Get(Ref(Collection("users"), "7"))'.length)}\n`)
  await shell.answers('CreateCollection({name: "a", history_days: "x"})', '    history_days: invalid type: ')
  await shell.answers(
    'Gett(1)',
    'syntax error: unknown name "Gett"; did you mean Get?\n    Gett(1)\n    ^^^^\n',
  )
  await shell.types('Add(1,\n')
  await shell.answers('"a")', '  at line 2:1\n    "a")\n    ^^^\n', '.......... ')
  await shell.types('Add(1,\n')
  await shell.answers('', 'syntax error: the expression has no end\n', '.......... ')
  assert.equal(await shell.leaves(), 0)
})

test('Tab completes functions, names in quotes and commands', async () => {
  const shell = new TypedShell()
  await shell.types('Pagin\t')
  await shell.sees('Paginate(')
  shell.presses('Match(Index("users_\t')
  await shell.sees('users_by_name"')
  shell.presses(')))\n')
  await shell.sees('data: []')
  // Readline treats a Tab in the middle of pasted text as text.
  await shell.types('.dat\t')
  await shell.sees('.database')
  shell.presses('\n')
  await shell.types('"Pagin\t')
  shell.presses('"\n')
  await shell.sees('\n"Pagin"\n')
  await shell.leaves()
})

test('Ctrl-C clears the input, and explains how to exit if there is none', async () => {
  const shell = new TypedShell()
  await shell.types('Add(1, \x03')
  await shell.types('\x03')
  await shell.sees('Type .exit or Ctrl-D to exit.')
  await shell.types('Add(1,\n')
  await shell.types('\x03', '.......... ')
  await shell.answers('Add(2, 2)', '\n4\n')
  await shell.leaves()
})

test('Ctrl-C cancels the query, not the shell', async () => {
  const cancelled = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await using slow = createServer((request, response) => {
    if (request.url === '/slow') {
      response.on('close', () => cancelled.resolve())
      arrived.resolve()
    }
  })
  slow.listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const { port } = slow.address() as AddressInfo
  const shell = new TypedShell({ url: `http://127.0.0.1:${port}/slow` })
  await shell.types('Now()\n')
  await arrived.promise
  shell.presses('\x03')
  await shell.sees('cancelled: ')
  await cancelled.promise
  await shell.answers('.json', 'results are shown as JSON')
  assert.equal(await shell.leaves(), 0)
})

test('commands: JSON, another role, another database, another secret, files, help', async () => {
  const { secret } = (await rootQuery(server, { create_key: { object: { role: 'client' } } })) as {
    secret: string
  }
  const shell = new TypedShell({ files: { 'setup.fql': 'CreateCollection({name: "things"})\nAdd(1, "x")' } })
  await shell.types('.json on\n')
  await shell.answers(
    '[Collection("users"), 1.0]',
    '\n[{"@ref":{"id":"users","collection":{"@ref":{"id":"collections"}}}},1.0]\n',
  )
  await shell.types('.json off\n')
  await shell.types('.as client\n')
  await shell.answers('Paginate(Collections())', 'permission denied: ', 'terrarium (client)> ')
  await shell.types('.as\n', 'terrarium (client)> ')
  await shell.types('.database shop\n')
  await shell.answers('Paginate(Collections())', '{ data: [] }', 'shop> ')
  await shell.answers('.run setup.fql', 'name: "things"', 'shop> ')
  await shell.sees('  at setup.fql:2:8\n    Add(1, "x")\n           ^^^\n')
  await shell.answers('.run nowhere.fql', 'failed: nowhere.fql cannot be read: it does not exist\n', 'shop> ')
  await shell.types('.database\n', 'shop> ')
  await shell.types(`.secret ${secret}\n`)
  await shell.answers('Paginate(Collections())', 'permission denied: ')
  await shell.types('.secret\n')
  await shell.answers(
    '.database shop/nope',
    'failed: there is no database shop/nope, or the secret may not open it\n',
  )
  await shell.answers(
    '.as @role/nobody',
    'failed: @role/nobody does not exist, or the secret may not act as @role/nobody\n',
  )
  await shell.answers('.secret fnAnobody', `failed: ${server.url} does not know the secret\n`)
  await shell.answers('.help get', 'Get(ref, ts?): Document\n')
  await shell.answers('.help', '.database [PATH]')
  await shell.answers('.hlep', 'failed: unknown command .hlep; did you mean .help?\n')
  await shell.leaves()
})

test('entries of several lines are recalled as they were typed', async () => {
  const shell = new TypedShell({ history: ['Add(40,\n2)'] })
  await shell.types('Add(1, // one\n')
  await shell.answers(' 2)', '\n3\n', '.......... ')
  await shell.types('\x1b[A')
  await shell.sees('Add(1, // one\n|  2)')
  shell.presses('\n')
  await shell.sees('\n3\n')
  // The first key moves up one line within the entry.
  await shell.answers('\x1b[A\x1b[A\x1b[A', '\n42\n')
  await shell.leaves()
})

test('without a terminal there are no prompts, and the exit status shows failures', async () => {
  const good = new TypedShell({ isTerminal: false })
  good.presses('Add(1,\n 2)\n"x"\n.json\n"y"\nAdd(2, 2)')
  assert.equal(await good.leaves(), 0)
  assert.equal(await good.sees('4\n'), '3\n"x"\nresults are shown as JSON\n"y"\n')
  const bad = new TypedShell({ isTerminal: false })
  bad.presses('Abort("no")\n')
  assert.equal(await bad.leaves(), 1)
})

test('an unreachable service is reported in one line, and the shell continues', async () => {
  const shell = new TypedShell({ url: 'http://127.0.0.1:1' })
  await shell.answers('Now()', 'failed: http://127.0.0.1:1 cannot be reached: ')
  await shell.leaves()
})

test('the history excludes passwords, and only its owner can read it', async () => {
  const file = historyFile({ XDG_STATE_HOME: join(folder, 'state') })
  assert.deepEqual(readHistory(file), [])
  for (const entry of ['Add(1, 2)', 'Login(x, {password: "p"})', ' Now()', '.secret abc', 'a\nb', 'Now()']) {
    addToHistory(file, entry)
  }
  assert.deepEqual(readHistory(file), ['Now()', 'a\nb', 'Add(1, 2)'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  await writeFile(file, Array.from({ length: 3000 }, (_, at) => `${at}\n`).join(''))
  assert.equal(readHistory(file).length, 1000)
  assert.equal((await readFile(file, 'utf8')).split('\n')[0], '2000')
  const blocked = join(folder, 'blocked')
  await mkdir(blocked)
  await chmod(blocked, 0o500)
  addToHistory(join(blocked, 'file', 'history'), 'Now()')
})

const python = spawnSync('python3', ['-c', 'import pty']).status === 0

test('in a real terminal', { skip: !python && 'there is no python3 to make a terminal' }, async () => {
  const state = join(folder, 'terminal')
  const script = join(folder, 'terminal.py')
  // Runs a program in a pseudo-terminal, and passes input and output on.
  await writeFile(script, 'import pty, sys\nsys.exit(pty.spawn(sys.argv[1:]) >> 8)\n')
  const env = {
    ...process.env,
    XDG_STATE_HOME: state,
    TERM: 'xterm',
    TERRARIUM_URL: server.url,
    TERRARIUM_SECRET: server.rootSecret,
  }
  const child = spawn('python3', [script, process.execPath, program, 'shell'], { env })
  let written = ''
  const sees = async (text: string) => {
    while (!written.includes(text)) await Promise.race([once(child.stdout, 'data'), gone])
    written = written.slice(written.indexOf(text) + text.length)
  }
  child.stdout.setEncoding('utf8').on('data', text => {
    written += text
  })
  const gone = once(child, 'close').then(() => assert.fail(`the shell has ended: ${written}`))
  gone.catch(() => undefined)
  await sees('terrarium> ')
  child.stdin.write('Add(1, 2)\r')
  await sees('3')
  await sees('terrarium> ')
  child.stdin.write('Abort("stop")\r')
  await sees('\x1b[31m')
  await sees('terrarium> ')
  child.stdin.write('.exit\r')
  const [status] = await once(child, 'close')
  assert.equal(status, 0)
  assert.equal(await readFile(historyFile({ XDG_STATE_HOME: state }), 'utf8'), 'Add(1, 2)\nAbort("stop")\n')
})

test('.version changes the language, and lines are joined until a query is complete', async () => {
  const shell = new TypedShell()
  await shell.answers('.version 10', 'queries are read as version 10')
  await shell.types('[1, 2].map(n => {\n')
  await shell.types('  n + 1\n', '.......... ')
  await shell.answers('})', '[\n  2,\n  3\n]\n', '.......... ')
  await shell.answers('.version 5', 'there is no version 5 of the language: it is 4 or 10')
  await shell.types('.version 4\n')
  await shell.answers('Add(1, 2)', '\n3\n')
  await shell.leaves()
})
