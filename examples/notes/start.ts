// Runs the app on this machine: the database with its schema (`terrarium dev`), and a server for the page. In production, the
// database runs elsewhere, and any web server or bundler serves the page.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client, fql } from 'terrarium-client'

const here = import.meta.dirname
const { PORT = '3000', DATABASE_PORT = '8443', DATA = join(here, 'data') } = process.env

// ------------------------------------------------------------------------------------------- the database

const words = [
  'dev',
  'schema',
  '--database',
  'notes',
  '--out',
  'app/schema.ts',
  '--data',
  DATA,
  '--port',
  DATABASE_PORT,
]
const database = spawn('terrarium', words, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
database.once('exit', code => process.exit(code ?? 1))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => database.kill('SIGTERM'))

const lines = createInterface({ input: database.stdout })
let url = ''
for await (const line of lines) {
  url ||= /^Terrarium is ready on (\S+)$/.exec(line)?.[1] ?? ''
  // The schema has been pushed; later lines report changes.
  if (/^schema: (pushed|unchanged)/.test(line)) break
}
database.stdout.pipe(process.stdout)

/** Creates a key for the page. With it, a client can sign up and log in, and nothing else. */
async function visitorSecret(): Promise<string> {
  const secret = readFileSync(join(DATA, 'root-secret'), 'utf8').trim()
  const admin = new Client({ url, secret: `${secret}:notes:admin` })
  const key = fql`Key.create({ role: 'visitor', ttl: Time.now().add(1, 'day') }).secret`
  return (await admin.query<string>(key)).data
}

// ----------------------------------------------------------------------------------------------- the page

const config = JSON.stringify({ url, secret: await visitorSecret() })
const read = (path: string) => readFileSync(path, 'utf8')
const script = (name: string) => stripTypeScriptTypes(read(join(here, 'app', name)))

const pages: Readonly<Record<string, () => readonly [type: string, text: string]>> = {
  '/': () => ['text/html', read(join(here, 'app/index.html'))],
  '/app.js': () => ['text/javascript', script('app.ts')],
  '/terrarium-client.js': () => [
    'text/javascript',
    read(fileURLToPath(import.meta.resolve('terrarium-client'))),
  ],
  '/config.json': () => ['application/json', config],
}

const server = createServer((request, response) => {
  const page = pages[request.url ?? '']
  if (!page) return response.writeHead(404).end()
  const [type, text] = page()
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text)
})
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
