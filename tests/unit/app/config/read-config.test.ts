// Settings: their sources, the precedence of sources, and errors.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { flagOf, UsageError, variableOf } from '../../../../src/app/config/read-config.ts'
import {
  type Config,
  declaredDefaultOf,
  type SettingName,
  settings,
} from '../../../../src/app/config/settings.ts'
import { command } from '../../../../src/cli/command.ts'
import { commandHelp, programHelp } from '../../../../src/cli/help.ts'
import { parseCommandLine } from '../../../../src/cli/parse-command-line.ts'
import { folderOfFile } from '../../../support/folder.ts'

const folder = folderOfFile()

function fileOf(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const everything = command({
  name: 'serve',
  summary: 'Does it.',
  settings: Object.keys(settings) as SettingName[],
  run: async () => 0,
})

const read = (flags: string[], env: Record<string, string> = {}): Config =>
  parseCommandLine(everything, flags, env).config

test('without arguments every setting has its default', () => {
  const config = read([])
  for (const name of Object.keys(settings) as SettingName[]) {
    const initial = declaredDefaultOf(settings[name])
    const isPath = settings[name].kind === 'path' && initial !== undefined
    assert.equal(config[name], isPath ? resolve(String(initial)) : initial, name)
  }
  assert.equal(config.port, 8443)
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.data, resolve('data'))
  assert.equal(config.acceptData, false)
  assert.equal(config.tlsCert, undefined)
})

test('flags, variables and file keys are derived from the names in the table', () => {
  assert.equal(flagOf('rootSecret'), 'root-secret')
  assert.equal(variableOf('rootSecret'), 'TERRARIUM_ROOT_SECRET')
  assert.equal(variableOf('port'), 'TERRARIUM_PORT')
})

test('flags override the environment, and the environment overrides the file', () => {
  const file = fileOf(
    'order.json',
    '{"port":1,"host":"file.test","logLevel":"warn","allowInsecureJwks":true}',
  )
  const env = { TERRARIUM_PORT: '2', TERRARIUM_HOST: 'env.test' }
  const config = read(['--config', file, '--port', '3'], env)
  assert.deepEqual(
    [config.port, config.host, config.logLevel, config.allowInsecureJwks],
    [3, 'env.test', 'warn', true],
  )
  assert.equal(read([], { TERRARIUM_CONFIG: file }).port, 1)
})

test('an empty variable counts as unset', () => {
  assert.equal(read([], { TERRARIUM_PORT: '', TERRARIUM_CONFIG: '' }).port, 8443)
})

test('the value of a flag is the next word, or follows an equals sign', () => {
  assert.equal(read(['--port=0']).port, 0)
  assert.equal(read(['--root-secret=a=b=c=d=e']).rootSecret, 'a=b=c=d=e')
  assert.equal(read(['--allow-insecure-jwks', '--port', '1']).allowInsecureJwks, true)
  assert.equal(read(['--allow-insecure-jwks=false']).allowInsecureJwks, false)
  assert.equal(read(['--dashboard', 'false', '--port', '1']).dashboard, false)
  assert.equal(read(['--dashboard', 'true']).dashboard, true)
  assert.equal(read([], { TERRARIUM_ALLOW_INSECURE_JWKS: '1' }).allowInsecureJwks, true)
  assert.equal(read([], { TERRARIUM_ALLOW_INSECURE_JWKS: '0' }).allowInsecureJwks, false)
  assert.equal(read(['--port', '1', '--port', '2']).port, 2)
})

const mistakes: [name: string, flags: string[], env: Record<string, string>, message: string | RegExp][] = [
  ['an unknown flag', ['--ports', '1'], {}, 'unknown flag --ports; did you mean --port?'],
  ['a word that is no flag', ['8443'], {}, 'unexpected argument "8443"'],
  ['a missing value', ['--port'], {}, '--port needs a value'],
  ['a port that is no number', ['--port', 'x'], {}, '--port must be an integer from 0 to 65535'],
  ['an empty number', ['--port='], {}, '--port must be an integer from 0 to 65535'],
  ['a fraction', ['--port', '1.5'], {}, '--port must be an integer from 0 to 65535'],
  ['a port too high', [], { TERRARIUM_PORT: '65536' }, /^TERRARIUM_PORT must be an integer/],
  ['a number in disguise', ['--port', '0x10'], {}, /must be an integer/],
  ['an unknown level', ['--log-level', 'loud'], {}, /^--log-level must be one of trace, debug/],
  ['a switch that is neither', ['--allow-insecure-jwks=maybe'], {}, /must be true or false/],
  ['an impossible host', ['--host', 'a b'], {}, /^--host must be a host name or an IP address/],
  ['an empty folder', ['--data', ''], {}, /^--data must be a non-empty string/],
  [
    'a short secret on an address that other machines can reach',
    ['--host', '0.0.0.0'],
    { TERRARIUM_ROOT_SECRET: 'secret' },
    /must have at least 8 characters, unless/,
  ],
  ['a secret with a space', ['--root-secret', 'two words here'], {}, /must not contain white space/],
  ['a certificate without its key', ['--tls-cert', 'c.pem'], {}, /are needed together/],
  ['a missing file', ['--config', '/nonexistent/c.json'], {}, /^cannot read the configuration file .*ENOENT/],
]
test('a short secret is accepted on loopback addresses', () => {
  for (const host of ['127.0.0.1', '127.3.2.1', 'localhost', '::1'])
    assert.equal(read(['--host', host], { TERRARIUM_ROOT_SECRET: 'secret' }).rootSecret, 'secret')
})

for (const [name, flags, env, message] of mistakes) {
  test(`${name} is reported in one line`, () => {
    assert.throws(
      () => read(flags, env),
      (error: unknown) => {
        assert.ok(error instanceof UsageError)
        if (typeof message === 'string') assert.equal(error.message, message)
        else assert.match(error.message, message)
        assert.ok(!error.message.includes('\n'))
        return true
      },
    )
  })
}

test('errors in the file contain its path', () => {
  const cases: [content: string, message: RegExp][] = [
    ['{', /it is not JSON/],
    ['[]', /must contain a JSON object/],
    ['{"prot":1}', /^unknown setting "prot" in /],
    ['{"port":"8443x"}', /^"port" in .*must be an integer/],
    ['{"port":null}', /^"port" in .*must be an integer/],
    ['{"host":7}', /^"host" in .*must be a non-empty string/],
    ['{"__proto__":{"port":1}}', /^unknown setting "__proto__" in /],
  ]
  for (const [content, message] of cases) {
    const file = fileOf('bad.json', content)
    assert.throws(() => read(['--config', file]), { name: 'UsageError', message })
  }
})

test('messages never contain a secret', () => {
  for (const secret of ['short', 'two words here']) {
    assert.throws(
      () => read(['--host', '0.0.0.0', '--root-secret', secret]),
      (error: Error) => !error.message.includes(secret),
    )
  }
})

test('a command accepts only the settings that it declares', () => {
  const narrow = command({ name: 'check', summary: 'Checks.', settings: ['data'], run: async () => 0 })
  assert.equal(parseCommandLine(narrow, ['--data', '/x'], {}).config.data, '/x')
  assert.throws(() => parseCommandLine(narrow, ['--port', '1'], {}), { message: 'unknown flag --port' })
})

test('help explains every setting of a command within the width of a terminal', () => {
  const help = commandHelp(everything)
  for (const name of everything.settings) {
    assert.ok(help.includes(`--${flagOf(name)}`), name)
    assert.ok(help.includes(variableOf(name)), name)
    assert.ok(help.replace(/\s+/g, ' ').includes(settings[name].doc), name)
  }
  for (const flag of ['--store-log-minutes MINUTES', '--backup-days DAYS', '--workers N'])
    assert.ok(help.includes(`    ${flag}\n`), flag)
  const lines = [...help.split('\n'), ...programHelp([everything]).split('\n')]
  assert.ok(lines.every(line => line.length <= 110))
  assert.ok(programHelp([everything]).includes('Does it.'))
})
