// A service with the dashboard and a browser, for tests of pages. It records faults that fail every test: violations of
// the content security policy, exceptions, requests to other hosts, and data that runs as code.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, afterEach, before, beforeEach } from 'node:test'
import type * as Axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { sharedBrowser, skip } from '../browser/chromium.ts'
import { keyOfNewDatabase, query, runText } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { type RunningServer, startServer } from '../support/server.ts'

export { skip }

/** The timeout of all waits on a page, in milliseconds. */
const patienceMs = 30_000

type ContextOptions = Parameters<Browser['newContext']>[0]

export class Stage {
  server!: RunningServer
  /** The secret of an admin key of the test's own database. */
  admin!: string
  #browser!: Browser
  readonly #contexts = new Set<BrowserContext>()
  readonly #faults: string[] = []

  /** Starts a service. All test files of the process share one browser. */
  async start(startService: () => Promise<RunningServer>): Promise<void> {
    this.server = await startService()
    this.#browser = await sharedBrowser()
    this.admin = await keyOfNewDatabase(this.server, 'shop', 'admin')
  }

  /** Runs a query as the admin of the test's database. */
  query(expression: unknown): Promise<unknown> {
    return query(this.server, this.admin, expression)
  }

  /** {@link query} with a query in text form. */
  run(text: string): Promise<unknown> {
    return runText(this.server, this.admin, text)
  }

  /** The secret of a new key with a role. `fields`: further fields of the key in text form, each with a comma before. */
  async keyOf(role: string, fields = ''): Promise<string> {
    const key = await this.run(`CreateKey({ role: "${role}"${fields} })`)
    return (key as { secret: string }).secret
  }

  /** Opens the first page of the dashboard in its own browser context. */
  async open(): Promise<Page> {
    const page = await this.#newPage({})
    await page.goto(this.#url(''))
    return page
  }

  /**
   * Opens a page that is signed in with a secret. The session storage contains the secret, as after a reload, because
   * filling in the form takes longer than loading the page.
   */
  async signedIn(secret: string, address = '', options: ContextOptions = {}): Promise<Page> {
    const page = await this.#newPage(options)
    const signIn = await page.addInitScript(key => sessionStorage.setItem('terrarium-secret', key), secret)
    await page.goto(this.#url(address))
    await page.locator('#sections').waitFor({ state: 'attached' })
    await signIn.dispose()
    return page
  }

  /** Loads another address in a page, like a link from another site. */
  async visit(page: Page, address: string): Promise<void> {
    await page.goto(this.#url(address))
    await page.locator('main h1').first().waitFor()
  }

  /**
   * Opens another page with a link of the dashboard. The application stays loaded, so `follow` needs a third of the time
   * of {@link visit}.
   */
  async follow(page: Page, address: string): Promise<void> {
    const url = this.#url(address)
    // A link to the current page would not open it again.
    if (new URL(page.url()).pathname === new URL(url).pathname) return this.visit(page, address)
    const heading = await page.locator('main h1').first().elementHandle()
    await page.evaluate(href => {
      const link = Object.assign(document.createElement('a'), { href })
      document.body.append(link)
      link.click()
      link.remove()
    }, url)
    // Each page has its own heading element.
    await page.waitForFunction(old => old?.isConnected === false, heading)
    await page.locator('main h1').first().waitFor()
  }

  /** Fails if a fault was recorded. */
  assertNoFaults(): void {
    assert.deepEqual(this.#faults.splice(0), [])
  }

  /** Drops faults that the test has caused on purpose, such as a service that is down. */
  forgetFaults(): void {
    this.#faults.length = 0
  }

  async closePages(): Promise<void> {
    for (const context of this.#contexts) await context.close()
  }

  async close(): Promise<void> {
    await this.closePages()
    // The service is absent after a failed start.
    await this.server?.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #newPage(options: ContextOptions): Promise<Page> {
    // Animations are off, because the contrast check would measure colours in the middle of a transition.
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    })
    this.#contexts.add(context)
    context.once('close', () => this.#contexts.delete(context))
    await this.#watch(context)
    return context.newPage()
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
        if (message.type() === 'error' && !isRejection(message.text())) this.#faults.push(message.text())
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

/** The browser logs each response with 4xx as an error. Pages show the ones that matter. */
function isRejection(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of 4\d\d/.test(text)
}

export async function openStage(startService: () => Promise<RunningServer> = startServer): Promise<Stage> {
  const stage = new Stage()
  await stage.start(startService)
  return stage
}

/**
 * The stage of a test file. It starts before the file's first test, and `prepare` fills its database. After each test,
 * its pages are closed, and the test fails if a fault was recorded. It closes after the last test.
 */
export function stageOfFile(
  prepare?: () => Promise<unknown>,
  startService: () => Promise<RunningServer> = startServer,
): Stage {
  const stage = new Stage()
  before(async () => {
    if (skip) return
    await stage.start(startService)
    await prepare?.()
  })
  // These hooks run for subtests too. Subtests use the pages of the test around them.
  let depth = 0
  beforeEach(() => {
    depth += 1
  })
  afterEach(async () => {
    depth -= 1
    stage.assertNoFaults()
    if (depth === 0) await stage.closePages()
  })
  after(() => stage.close())
  return stage
}

/** Clicks the button with this name. */
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** Creates an object by its form, which has only a name. `open`: the button that opens the form. */
export async function createNamed(page: Page, open: string, name: string): Promise<void> {
  await press(page, open)
  await page.getByLabel('Name', { exact: true }).fill(name)
  await press(page, 'Create')
}

/** Signs in on the page of {@link Stage.open}. */
export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('Secret').fill(secret)
  await press(page, 'Sign in')
}

/** Waits until a page has finished loading. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('main .loading') === null)
}

/** The accessibility checker as a script for pages. */
const checkerSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The findings of the accessibility checker on a page, by all rules or by the given ones. */
export async function accessibilityFaults(page: Page, rules?: string[]): Promise<readonly string[]> {
  // A page keeps the checker until it is left: parsing its 600 KB takes longer than a check.
  const isLoaded = await page.evaluate(() => 'axe' in globalThis)
  if (!isLoaded) await page.evaluate(checkerSource)
  // Collecting only violations is faster, because the checker does not locate passing elements.
  const options: Axe.RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const violations = await page.evaluate(async given => {
    const { axe } = globalThis as unknown as { axe: typeof Axe }
    const { violations } = await axe.run(document, given)
    return violations.map(({ id, help, nodes }) => ({ id, help, elements: nodes.map(({ html }) => html) }))
  }, options)
  return violations.map(({ id, help, elements }) => `${id}: ${help}\n${elements.join('\n')}`)
}

/** Text of the first error that the editor underlines. */
export async function underlinedText(page: Page): Promise<string> {
  const underlined = page.locator('.cm-lintRange-error')
  await underlined.first().waitFor()
  return (await underlined.allTextContents()).join('')
}

/** Replaces the text of an editor. */
export async function typeInto(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label, exact: true }).click()
  await page.keyboard.press('Control+A')
  if (text === '') await page.keyboard.press('Delete')
  else await page.keyboard.insertText(text)
}

/** Types a query into the shell or the page Why denied, and runs or explains it. */
export async function submitQuery(page: Page, text: string, button: 'Run' | 'Explain' = 'Run') {
  await typeInto(page, 'Query', text)
  await press(page, button)
}
