// Headless Chromium with a test page, whose origin is not the origin of the service. The headless shell is preferred: it
// lacks the window of Chromium, and needs half of its CPU time.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { patience } from '../support/patience.ts'
import { repository } from '../support/program.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { serviceOfFile } from '../support/service-of-file.ts'
import { shared } from '../support/shared.ts'

const chromes = ['google-chrome', 'google-chrome-stable']
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', ...chromes]

const launchTimeoutMs = 30_000

const folders = (process.env.PATH ?? '').split(delimiter)
/** The browser's program: `CHROMIUM` in the environment, or the first of the usual names that is on the path. */
const program =
  process.env.CHROMIUM ||
  names.flatMap(name => folders.map(folder => join(folder, name))).find(file => existsSync(file))

/** The reason to skip tests in a browser; false where Chromium is installed. */
export const skip =
  program === undefined
    ? 'Chromium is not installed (apt-get install chromium-headless-shell, or name it in CHROMIUM)'
    : false

/** Starts the browser. Fails if it is not installed. */
export function launch(): Promise<Browser> {
  assert.ok(program !== undefined, 'the test is not skipped')
  return chromium.launch({
    executablePath: program,
    args: ['--no-sandbox'],
    timeout: patience(launchTimeoutMs),
  })
}

/** The browser that all test files of a process share. */
export const sharedBrowser = shared(launch, browser => browser.close())

/** A page, and a service that its scripts use. */
export interface PageWithService {
  readonly page: Page
  readonly server: RunningServer
  stop(): Promise<void>
}

/** The browser builds of the drivers of both versions. The driver of version 10 is a module. */
const drivers: Readonly<Record<string, string>> = {
  '/faunadb.js': join(repository, 'node_modules/faunadb/dist/faunadb.js'),
  '/fauna.js': join(repository, 'node_modules/fauna/dist/browser/index.js'),
}
const html = `<!doctype html><title>app</title><script src="/faunadb.js"></script>
<script type="module">import * as fauna from '/fauna.js'; globalThis.fauna = fauna</script>`

/** Opens a page that has loaded the browser builds of the drivers as `faunadb` and `fauna`. */
async function openPage(): Promise<PageWithService> {
  const server = await startServer()
  const site = createServer((request, response) => {
    const file = drivers[request.url ?? '']
    response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript')
    response.end(file === undefined ? html : readFileSync(file))
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
  let context: BrowserContext | undefined
  const stop = async () => {
    await context?.close()
    site.closeAllConnections()
    await new Promise(resolve => site.close(resolve))
    await server.stop()
  }
  try {
    context = await (await sharedBrowser()).newContext()
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
    return { page, server, stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}

/** The page and the service of a test file. All tests of the file must be skipped without Chromium. */
export function pageOfFile(): PageWithService {
  return serviceOfFile(async () => (skip ? undefined : openPage()))
}
