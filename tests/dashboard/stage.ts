// A service with the dashboard and a browser in front of it, for tests of pages. Whatever a page must never do fails
// the test that saw it: break the content security policy, throw, ask another host, run what is data.

import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { chromiumProgram } from '../browser/chromium.ts'
import { keyOfNewDatabase, query } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type RunningServer, type ServerOptions, startServer } from '../support/server.ts'
import { shared } from '../support/shared.ts'

const program = chromiumProgram()

/** Why tests of pages cannot run here; false when they can. */
export const skip =
  program === undefined
    ? 'Chromium is not installed (apt-get install chromium, or name it in CHROMIUM)'
    : false

/** Milliseconds that anything on a page may take. */
const patienceMs = 30_000

export interface StageOptions extends ServerOptions {
  /** The name of the database that is made for the test. */
  readonly database?: string
  /** How the service is started; within the process when absent. */
  readonly start?: (options: ServerOptions) => Promise<RunningServer>
}

export class Stage {
  server: RunningServer
  /** The secret of an admin key of the test's own database. */
  readonly admin: string
  readonly #browser: Browser
  readonly #contexts = new Set<BrowserContext>()
  readonly #faults: string[] = []

  constructor(server: RunningServer, admin: string, browser: Browser) {
    this.server = server
    this.admin = admin
    this.#browser = browser
  }

  /** Runs a query as the admin of the test's database. */
  query(expression: unknown): Promise<unknown> {
    return query(this.server, this.admin, expression)
  }

  /** The secret of a new key with a role. */
  async keyOf(role: unknown): Promise<string> {
    const key = await this.query({ create_key: { object: { role } } })
    return (key as { secret: string }).secret
  }

  /** A page in a browser window of its own, at an address below `/dashboard/`. */
  async open(address = '', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    // Without motion: a colour that is still on its way to another would be measured half-way.
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    })
    this.#contexts.add(context)
    context.once('close', () => this.#contexts.delete(context))
    await this.#watch(context)
    const page = await context.newPage()
    await page.goto(this.#url(address))
    return page
  }

  /** A page that somebody has signed in to with a secret. */
  async signedIn(
    secret: string,
    address = '',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const page = await this.open(address, options)
    await page.getByLabel('Secret').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('#sections').waitFor({ state: 'attached' })
    return page
  }

  /** Leads a page to another address, as a link from outside would. */
  async visit(page: Page, address: string): Promise<void> {
    await page.goto(this.#url(address))
    await page.locator('main h1').first().waitFor()
  }

  /** Fails when a page has done what it must not. */
  assertNoFaults(): void {
    assert.deepEqual(this.#faults.splice(0), [])
  }

  /** Forgets faults that the test itself has brought about, such as a service that is down. */
  forgetFaults(): void {
    this.#faults.length = 0
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close()
    await this.server.stop()
  }

  #url(address: string): string {
    return `${this.server.url}/dashboard/${address}`
  }

  async #watch(context: BrowserContext): Promise<void> {
    context.setDefaultTimeout(patience(patienceMs))
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', event => {
        console.error(
          `content security policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`,
        )
      })
    })
    context.on('page', page => {
      page.on('pageerror', error => this.#faults.push(`error: ${error.message}`))
      page.on('dialog', dialog => {
        if (dialog.type() === 'alert') this.#faults.push(`a script ran: ${dialog.message()}`)
        void dialog.accept()
      })
      page.on('console', message => {
        if (message.type() === 'error' && !isRefusal(message.text())) this.#faults.push(message.text())
      })
      page.on('request', request => {
        const url = new URL(request.url())
        const isOwn =
          url.origin === new URL(this.server.url).origin || ['blob:', 'data:'].includes(url.protocol)
        if (!isOwn) this.#faults.push(`asked ${request.url()}`)
      })
    })
  }
}

/** The browser notes each response of 4xx; those that matter show on the page. */
function isRefusal(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of 4\d\d/.test(text)
}

const sharedBrowser = shared(
  () =>
    chromium.launch({
      executablePath: program as string,
      args: ['--no-sandbox'],
      timeout: patience(patienceMs),
    }),
  browser => browser.close(),
)

/** Starts a service; the browser is the same for all test files of the process. */
export async function openStage({
  database = 'shop',
  start = startServer,
  ...options
}: StageOptions = {}): Promise<Stage> {
  const server = await start(options)
  const browser = await sharedBrowser()
  return new Stage(server, await keyOfNewDatabase(server, database, 'admin'), browser)
}

/** Waits until a page shows what it has loaded. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('main .loading') === null)
}

/** What the accessibility checker finds on a page, in words; by all its rules, or by some. */
export async function accessibilityFaults(page: Page, rules?: string[]): Promise<readonly string[]> {
  // Without frames of other origins the whole check can be made in the page: no further one is opened for each result.
  // Of what is right it need not tell where it is, which takes it longer than to find out.
  const checker = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await (rules ? checker.withRules(rules) : checker).analyze()
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n${nodes.map(({ html }) => html).join('\n')}`,
  )
}

/** Puts a text into an editor in the place of what is there. */
export async function typeInto(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).click()
  await page.keyboard.press('Control+A')
  if (text === '') await page.keyboard.press('Delete')
  else await page.keyboard.insertText(text)
}
