// Develops the dashboard: `npm run dev` starts a service with sample data and Vite's development server. A browser
// reloads the page when a source of the dashboard changes.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer } from 'vite'
import { query } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { startProcess, withoutSlowLane } from '../tests/support/server-process.ts'
import { readOptions } from './command-line.ts'
import { fillShop } from './sample-shop.ts'

const { values } = readOptions({
  usage: `npm run dev -- [options]

Serves the dashboard from its sources, with a service of its own. The page reloads when a source changes.

  --data DIR    the data directory; without this option, a temporary one with sample data
  --port N      the port of the dashboard (5173)
  --help        prints this text`,
  options: { data: { type: 'string' }, port: { type: 'string', default: '5173' } },
})

const service = await startProcess({
  program: join(repository, 'bin/terrarium.js'),
  flags: withoutSlowLane,
  ...(values.data !== undefined && { data: values.data }),
})
if (values.data === undefined) await fillShop(expression => query(service, service.rootSecret, expression))
const vite = await createServer({
  configFile: join(repository, 'dashboard/vite.config.js'),
  server: {
    port: Number(values.port),
    // Everything that is not the dashboard is a request to the service.
    proxy: { '^/(?!dashboard/)': { target: service.url } },
  },
})
await vite.listen()
console.log(`The dashboard:   ${vite.resolvedUrls?.local[0] ?? ''}`)
console.log(`The service:     ${service.url}`)
console.log(`The root secret: ${service.rootSecret}`)
console.log('Ctrl+C ends both.')

process.once('SIGINT', async () => {
  await vite.close()
  // A terminal sends the signal to the service, too, so the service may have stopped already.
  await service.stop().catch(() => undefined)
  if (values.data === undefined) await rm(service.data, { recursive: true, force: true })
  process.exit(0)
})
