// Starting and stopping from an operator's point of view: the program with a fake engine, its output and its exit
// status.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { folderOfFile } from '../support/folder.ts'
import { cert, key } from './certificate.ts'

const fakeProgram = fileURLToPath(new URL('./serve-fake.ts', import.meta.url))

interface Program {
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves with the address of the ready line; rejects if the program exits before. */
  ready(): Promise<string>
  /** Resolves with the exit status; null if a signal killed the program. */
  exited(): Promise<number | null>
}

const running = new Set<ChildProcess>()
after(async () => {
  for (const child of running) {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
})
const folder = folderOfFile()

function start(words: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('TERRARIUM_'))
  const child = spawn(process.execPath, [fakeProgram, ...words], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const exit = once(child, 'close').then(([status]) => {
    running.delete(child)
    return status as number | null
  })
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ready: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          const url = /^Terrarium is ready on (\S+)\n/.exec(stdout)?.[1]
          if (url !== undefined) resolve(url)
        }
        child.stdout.on('data', look)
        exit.then(status => reject(new Error(`ended with ${status}: ${stderr}`)))
        look()
      }),
    exited: () => exit,
  }
}

/** Runs the program to its end. The error must be one line without a stack trace. */
async function rejected(words: readonly string[]) {
  const program = start(words)
  const status = await program.exited()
  assert.equal(program.stdout(), '')
  const lines = program.stderr().trim().split('\n')
  const last = lines.at(-1) ?? ''
  assert.ok(
    lines.slice(0, -1).every(line => line.startsWith('{')),
    program.stderr(),
  )
  assert.match(last, /^terrarium: /)
  return { status, message: last.slice('terrarium: '.length) }
}

test('the first start generates a root secret, later ones keep it', async () => {
  const data = join(folder, 'deep', 'fresh')
  const secretFile = join(data, 'root-secret')
  const first = start(['serve', '--port', '0', '--data', data])
  const url = await first.ready()
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.equal((await fetch(`${url}/ping`)).status, 200)
  const secret = readFileSync(secretFile, 'utf8').trim()
  assert.match(secret, /^[\w-]{32}$/)
  assert.equal(statSync(secretFile).mode & 0o777, 0o600)
  assert.equal(statSync(data).mode & 0o777, 0o700)
  first.child.kill('SIGTERM')
  assert.equal(await first.exited(), 0)
  assert.equal(first.stdout(), `Terrarium is ready on ${url}\n`)
  assert.ok(first.stderr().includes(secretFile))
  assert.ok(!first.stderr().includes(secret))
  for (const line of first.stderr().trim().split('\n')) assert.ok(JSON.parse(line).msg)

  const second = start(['--port=0', '--data', data])
  await second.ready()
  assert.equal(readFileSync(secretFile, 'utf8').trim(), secret)
  second.child.kill('SIGINT')
  assert.equal(await second.exited(), 0)
})

test('a configured root secret is not stored', async () => {
  const data = join(folder, 'configured')
  const program = start(['serve'], {
    TERRARIUM_PORT: '0',
    TERRARIUM_DATA: data,
    TERRARIUM_ROOT_SECRET: 'configured-secret',
  })
  await program.ready()
  assert.throws(() => statSync(join(data, 'root-secret')), { code: 'ENOENT' })
  program.child.kill('SIGTERM')
  assert.equal(await program.exited(), 0)
  assert.ok(!program.stderr().includes('configured-secret'))
})

test('a short root secret is accepted only on loopback, with a warning', async () => {
  const variables = {
    TERRARIUM_PORT: '0',
    TERRARIUM_DATA: join(folder, 'guessed'),
    TERRARIUM_ROOT_SECRET: 'secret',
  }
  const program = start(['serve'], variables)
  await program.ready()
  program.child.kill('SIGTERM')
  assert.equal(await program.exited(), 0)
  assert.equal(program.stderr().match(/"level":40[^\n]*the root secret is easily guessed/g)?.length, 1)
  const outside = start(['serve', '--host', '0.0.0.0'], variables)
  assert.equal(await outside.exited(), 2)
  assert.match(outside.stderr(), /at least 8 characters/)
})

test('after a signal, requests in flight finish', async () => {
  const program = start(['serve', '--port', '0', '--data', join(folder, 'busy')], { FAKE_DELAY_MS: '300' })
  const url = await program.ready()
  const { hostname, port } = new URL(url)
  const socket = net.connect({ host: hostname, port: Number(port) })
  let answer = ''
  socket.setEncoding('utf8').on('data', text => {
    answer += text
  })
  const head =
    'POST / HTTP/1.1\r\nauthorization: Bearer right\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n'
  socket.write(head)
  // The interim response proves that the request has arrived.
  await once(socket, 'data')
  program.child.kill('SIGTERM')
  socket.write('1')
  await once(socket, 'close')
  assert.ok(answer.endsWith('{"resource":1}'), answer)
  assert.equal(await program.exited(), 0)
})

test('a second signal, even a different one, kills the service at once', async () => {
  const program = start(['serve', '--port', '0', '--data', join(folder, 'twice')], { FAKE_DELAY_MS: '60000' })
  const { hostname, port } = new URL(await program.ready())
  const socket = net.connect({ host: hostname, port: Number(port) })
  socket.on('error', () => undefined)
  const head =
    'POST / HTTP/1.1\r\nauthorization: Bearer right\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n'
  socket.write(head)
  await once(socket, 'data')
  socket.write('1')
  program.child.kill('SIGTERM')
  while (!program.stderr().includes('stopping')) await once(program.child.stderr as Readable, 'data')
  program.child.kill('SIGINT')
  assert.equal(await program.exited(), null)
  assert.equal(program.child.signalCode, 'SIGINT')
})

test('TLS is served when a certificate is configured', async () => {
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  writeFileSync(certFile, cert)
  writeFileSync(keyFile, key)
  const tls = ['--tls-cert', certFile, '--tls-key', keyFile]
  const program = start(['serve', '--port', '0', '--data', join(folder, 'tls'), ...tls])
  assert.match(await program.ready(), /^https:/)
  program.child.kill('SIGTERM')
  assert.equal(await program.exited(), 0)
})

test('a port in use is reported in one line', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as net.AddressInfo
  const { status, message } = await rejected([
    'serve',
    '--port',
    String(port),
    '--data',
    join(folder, 'taken'),
  ])
  assert.equal(status, 1)
  assert.equal(message, `127.0.0.1:${port} is already in use`)
  taken.close()
})

test('an address of another machine is reported in one line', async () => {
  const words = ['serve', '--port', '0', '--host', '192.0.2.1', '--data', join(folder, 'elsewhere')]
  const { status, message } = await rejected(words)
  assert.equal(status, 1)
  assert.equal(message, 'cannot serve on 192.0.2.1:0: the machine does not have this address')
})

test('an invalid data directory is reported in one line', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const data of [file, join(file, 'below')]) {
    const { status, message } = await rejected(['serve', '--port', '0', '--data', data])
    assert.equal(status, 1)
    assert.match(message, /^the data directory .* cannot be used: /)
  }
})

test('a data directory without permission is reported in one line', async context => {
  if (process.getuid?.() === 0) return context.skip('root may write everywhere')
  const data = join(folder, 'locked')
  mkdirSync(data)
  chmodSync(data, 0o500)
  const { status, message } = await rejected(['serve', '--port', '0', '--data', data])
  assert.equal(status, 1)
  assert.match(message, /cannot be used: permission denied$/)
})

test('an unreadable or unusable certificate is reported in one line', async () => {
  const bad = join(folder, 'bad.pem')
  writeFileSync(bad, 'no certificate')
  const base = ['serve', '--port', '0', '--data', join(folder, 'certificates')]
  const missing = await rejected([...base, '--tls-cert', '/nonexistent.pem', '--tls-key', bad])
  assert.deepEqual(missing, { status: 1, message: 'cannot read /nonexistent.pem: it does not exist' })
  const unusable = await rejected([...base, '--tls-cert', bad, '--tls-key', bad])
  assert.equal(unusable.status, 1)
  assert.match(unusable.message, /are no usable certificate and key$/)
})

test('errors in the command line end with status 2', async () => {
  const cases: [words: string[], message: RegExp][] = [
    [['serve', '--prot', '1'], /^unknown flag --prot; did you mean --port\? \(see --help\)$/],
    [['serve', '--port', 'x'], /^--port must be an integer/],
    [['sevre'], /^unknown command "sevre"/],
    [['constructor'], /^unknown command "constructor"/],
  ]
  for (const [words, expected] of cases) {
    const { status, message } = await rejected(words)
    assert.equal(status, 2)
    assert.match(message, expected)
  }
})

test('--help explains the settings and starts nothing', async () => {
  const program = start(['serve', '--port', '0', '--help'])
  assert.equal(await program.exited(), 0)
  assert.match(program.stdout(), /--root-secret SECRET/)
  assert.match(program.stdout(), /TERRARIUM_DATA/)
  const overview = start(['--help'])
  assert.equal(await overview.exited(), 0)
  assert.match(overview.stdout(), /^SYNOPSIS\n {4}terrarium \[COMMAND\]/m)
})
