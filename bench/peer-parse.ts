// Parse Server as the case `peers` starts it: over the database in BENCH_STORE, from the packages below BENCH_PEERS.

import { once } from 'node:events'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** As much of it as is used here; it is no dependency, so its types are not there. */
interface ParsePackage {
  readonly ParseServer: new (
    options: Readonly<Record<string, unknown>>,
  ) => { readonly app: unknown; start(): Promise<unknown> }
}
type Express = () => { use(path: string, app: unknown): void; listen(port: number, host: string): Server }

// It logs to standard output, of which the first line is the port, and into the folder where it runs.
const say = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true
process.chdir(process.env.BENCH_DATA ?? '.')
const { BENCH_PEERS: folder = '', BENCH_STORE: databaseURI } = process.env
const load = createRequire(join(folder, 'node_modules/parse-server/package.json'))
const { ParseServer }: ParsePackage = load('parse-server')
const express: Express = load('express')

const parse = new ParseServer({
  databaseURI,
  appId: 'bench',
  masterKey: 'bench-master',
  serverURL: 'http://127.0.0.1/parse',
  allowClientClassCreation: true,
  silent: true,
})
await parse.start()
const app = express()
app.use('/parse', parse.app)
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
say(`${(server.address() as AddressInfo).port}\n`)
process.on('SIGTERM', () => process.exit())
