// Headless Chromium with a test page, whose origin is not the origin of the service.

import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { repository } from '../support/program.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser's program: `CHROMIUM` in the environment, or one of the usual names on the path. */
export function chromiumProgram(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = folders.flatMap(folder => names.map(name => join(folder, name))).find(existsSync)
  return process.env.CHROMIUM || found
}

export interface OpenPage {
  readonly page: Page
  /** The origin of the page. */
  readonly origin: string
  close(): Promise<void>
}

/** The browser builds of the drivers of both versions. The driver of version 10 is a module. */
const drivers: Readonly<Record<string, string>> = {
  '/faunadb.js': join(repository, 'node_modules/faunadb/dist/faunadb.js'),
  '/fauna.js': join(repository, 'node_modules/fauna/dist/browser/index.js'),
}
const html = `<!doctype html><title>app</title><script src="/faunadb.js"></script>
<script type="module">import * as fauna from '/fauna.js'; globalThis.fauna = fauna</script>`

/** Opens a page that has loaded the browser builds of the drivers as `faunadb` and `fauna`. */
export async function openPage(program: string): Promise<OpenPage> {
  const site = createServer((request, response) => {
    const file = drivers[request.url ?? '']
    response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript')
    response.end(file === undefined ? html : readFileSync(file))
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  let browser: Browser | undefined
  const close = async () => {
    await browser?.close()
    site.closeAllConnections()
    await new Promise(resolve => site.close(resolve))
  }
  try {
    browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
    const page = await browser.newPage()
    await page.goto(origin)
    return { page, origin, close }
  } catch (cause) {
    await close()
    throw cause
  }
}
