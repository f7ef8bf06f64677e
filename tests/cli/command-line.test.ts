// The command line in general: parsing of arguments, help, errors, shell completion.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { flagOf } from '../../src/app/config/read-config.ts'
import { closestTo } from '../../src/base/closest.ts'
import { command, commandFlags } from '../../src/cli/command.ts'
import { completionScripts } from '../../src/cli/commands/completion.ts'
import { commandHelp, programHelp } from '../../src/cli/help.ts'
import { parseCommandLine } from '../../src/cli/parse-command-line.ts'
import { commands } from '../../src/cli/table.ts'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { runProgram, sourceProgram } from '../support/program.ts'
import { read } from '../tidy/sources.ts'

const folder = folderOfFile()

const { version } = JSON.parse(read('package.json')) as { version: string }

const example = command({
  name: 'example',
  summary: 'Shows all kinds of options.',
  operands: [
    { name: 'FILE', doc: 'The first.' },
    { name: 'MORE', doc: 'Others.', optional: true, multiple: true },
  ],
  options: {
    url: {
      kind: 'string',
      default: undefined,
      placeholder: 'URL',
      doc: 'An address.',
      fromEnvironment: true,
    },
    size: { kind: 'integer', default: 3, min: 1, max: 9, placeholder: 'N', short: 's', doc: 'A number.' },
    dryRun: { kind: 'switch', default: false, doc: 'Changes nothing.' },
    type: { kind: 'string', default: undefined, multiple: true, placeholder: 'T', doc: 'A type.' },
    to: { kind: 'choice', default: 'text', choices: ['text', 'json'], placeholder: 'F', doc: 'A format.' },
  },
  settings: ['data'],
  run: async () => 0,
})

test('arguments become operands and typed options', () => {
  const words = 'a --dry-run -s 4 --type=x b --type y::z --to json - -- -c'.split(' ')
  const { operands, options, config } = parseCommandLine(example, [...words, '--url'], {
    TERRARIUM_DATA: '/d',
  })
  assert.deepEqual(operands, ['a', 'b', '-', '-c', '--url'])
  assert.deepEqual(options, { url: undefined, size: 4, dryRun: true, type: ['x', 'y::z'], to: 'json' })
  assert.equal(config.data, '/d')
})

test('options have defaults, and some can come from the environment', () => {
  const env = { TERRARIUM_URL: 'http://x', TERRARIUM_SIZE: '7' }
  const { options } = parseCommandLine(example, ['a'], env)
  assert.deepEqual(options, { url: 'http://x', size: 3, dryRun: false, type: [], to: 'text' })
  assert.equal(parseCommandLine(example, ['a', '--url', 'http://y'], env).options.url, 'http://y')
})

const mistakes: readonly (readonly [words: readonly string[], message: string])[] = [
  [[], 'example needs FILE'],
  [['a', '--dry-rum'], 'unknown flag --dry-rum; did you mean --dry-run?'],
  [['a', '--no-such-thing'], 'unknown flag --no-such-thing'],
  [['a', '-x'], 'unknown flag -x'],
  [['a', '--size', '10'], '--size must be an integer from 1 to 9'],
  [['a', '-s', 'many'], '-s must be an integer from 1 to 9'],
  [['a', '--size'], '--size needs a value'],
  [['a', '--url', '--dry-run'], '--url needs a value'],
  [['a', '--to', 'xml'], '--to must be one of text, json'],
  [['a', '--dry-run=perhaps'], '--dry-run must be true or false'],
  [['a', '--port', '1'], 'unknown flag --port'],
]
for (const [words, message] of mistakes) {
  test(`example ${words.join(' ')}: ${message}`, () => {
    assert.throws(() => parseCommandLine(example, words, {}), { name: 'UsageError', message })
  })
}

test('a misspelled word gets a suggestion, an unrelated word does not', () => {
  assert.equal(closestTo('prot', ['port', 'host']), 'port')
  assert.equal(closestTo('paginat', ['Paginate', 'Page']), 'Paginate')
  assert.equal(closestTo('elephant', ['port', 'host']), undefined)
  assert.equal(closestTo('x', []), undefined)
})

test('the help of every command lists all its arguments, within the width of a terminal', () => {
  const overview = programHelp(commands)
  for (const each of commands) {
    assert.ok(overview.includes(`    ${each.name} `), each.name)
    const help = commandHelp(each)
    for (const [name] of commandFlags(each))
      assert.ok(help.includes(`--${flagOf(name)}`), `${each.name} ${name}`)
    for (const { name } of each.operands) assert.ok(help.includes(name), `${each.name} ${name}`)
    const long = help.split('\n').filter(line => line.length > 110)
    assert.deepEqual(long, [], each.name)
  }
})

test('names of commands are unique, and two words that name a command are never a command and its operand', async () => {
  const names = commands.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter(name => names.some(other => other.startsWith(`${name} `))),
    ['backup'],
  )
  // A folder that is called "verify" is written as a path: `terrarium backup ./verify`.
  const { status, stderr } = await runCommand(['backup', 'verify'])
  assert.equal(status, 2)
  assert.match(stderr, /--from/)
})

test('--version, --help and errors in the program', async () => {
  const printed = { status: 0, stdout: `terrarium ${version}\n`, stderr: '' }
  for (const words of [['--version'], ['version'], ['-v']]) assert.deepEqual(await runCommand(words), printed)
  assert.deepEqual(await runProgram(['--version']), printed)
  const alone = await runCommand([])
  assert.deepEqual([alone.status, alone.stdout], [0, (await runCommand(['--help'])).stdout])
  const help = await runCommand(['backup', '--help'])
  assert.match(
    help.stdout,
    /^NAME\n {4}terrarium backup - .*SYNOPSIS\n {4}terrarium backup \[OPTIONS\] FOLDER\n/s,
  )
  assert.equal((await runCommand(['help', 'backup'])).stdout, help.stdout)
  const group = await runCommand(['account-key', '--help'])
  assert.match(group.stdout, /terrarium account-key revoke \[OPTIONS\] ID/)
  const wrong: [words: string[], stderr: string][] = [
    [['bakcup'], 'unknown command "bakcup"; did you mean "backup"?'],
    [['account-key'], 'account-key needs one of create, list, revoke'],
    [
      ['account-key', 'revok', 'x'],
      'unknown command "account-key revok"; did you mean "account-key revoke"?',
    ],
    [['backup'], 'backup needs FOLDER'],
    [['check', 'folder'], 'unexpected argument "folder"'],
    [['completion', 'cmd'], 'there is no completion for the shell "cmd"'],
  ]
  for (const [words, message] of wrong) {
    const stderr = `terrarium: ${message} (see --help)\n`
    assert.deepEqual(await runCommand(words), { status: 2, stdout: '', stderr })
  }
  assert.equal((await runProgram(['bakcup'])).status, 2)
})

/** The proposals of bash for the last word, after sourcing the script. */
async function proposals(words: readonly string[]): Promise<readonly string[]> {
  const script = join(folder, 'completion.bash')
  await writeFile(script, completionScripts.bash?.(commands) ?? '')
  const quoted = ['terrarium', ...words].map(word => `'${word}'`).join(' ')
  const program = `source ${script}; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _terrarium; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, status, stderr } = spawnSync('bash', ['-c', program], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout.split('\n').filter(line => line !== '')
}

test('bash completes commands, flags and choices', async () => {
  assert.deepEqual(await proposals(['bac']), ['backup'])
  assert.deepEqual(await proposals(['account-key', '']), ['create', 'list', 'revoke'])
  assert.deepEqual(await proposals(['account-key', 'create', '--ttl']), ['--ttl-days'])
  const ofCheck = ['--data', '--store', '--store-schema', '--log-level', '--config', '--help']
  assert.deepEqual(await proposals(['check', '--']), ofCheck)
  assert.deepEqual(await proposals(['serve', '--log-level', 'w']), ['warn'])
  assert.deepEqual(await proposals(['backup', 'fold']), [])
})

for (const shell of ['zsh', 'fish']) {
  const isThere = spawnSync(shell, ['-c', 'true']).status === 0
  test(`${shell} accepts its script`, { skip: !isThere && `there is no ${shell} here` }, async () => {
    const script = join(folder, `completion.${shell}`)
    await writeFile(script, completionScripts[shell]?.(commands) ?? '')
    const { status, stderr } = spawnSync(shell, ['-n', script], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })
}

/** A module to preload that prints the files which the program loads. */
const tellLoads = `data:text/javascript,${encodeURIComponent(
  "import { registerHooks } from 'node:module'; import { writeSync } from 'node:fs';" +
    "registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context) } })",
)}`

const lightLines: readonly (readonly [line: string, mustLoad: string])[] = [
  ['help', 'src/cli/help.ts'],
  ['eval --url http://127.0.0.1:1 --secret s 1', 'src/cli/actions/eval.ts'],
  ['schema pull none --url http://127.0.0.1:1 --secret s', 'src/cli/actions/schema.ts'],
]
for (const [line, mustLoad] of lightLines) {
  test(`\`terrarium ${line}\` does not load the engine, because scripts run it often`, () => {
    const words = ['--import', tellLoads, sourceProgram, ...line.split(' ')]
    const { stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    const loaded: readonly string[] = stderr.match(/(src|node_modules)\/\S+/g) ?? []
    assert.ok(loaded.includes(mustLoad), stderr)
    // Contracts between layers do not count as engine code.
    const heavy =
      /^src\/((storage\/store|model\/auth)\/(?!\w+-contract\.ts)|(engine|server\/http)\/)|^node_modules\/(lmdb|pg|pino|bcrypt)\//
    assert.deepEqual(
      loaded.filter(path => heavy.test(path)),
      [],
    )
  })
}
