// The case `dashboard`: the pages of a large collection in a browser, and the reads of another tenant meanwhile. Measures
// the time until a page shows its first rows or its progress, until the progress has an estimate, and until the page is
// complete.

import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launch, skip } from '../tests/browser/chromium.ts'
import { query } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { loadedCount } from './cold.ts'
import { groupSize, literal } from './documents.ts'
import { memoryMebibytes, processesOf, serverMs } from './measure.ts'
import { Reader } from './reader.ts'
import { createSized, createSizedSchema, sizedDocument } from './size-data.ts'

export interface DashboardOptions {
  readonly folder: string
  /** Documents that are loaded if the folder has no data directory of the case `size`. */
  readonly count: number
  /** Words in the names of actions. The default is all actions. */
  readonly kinds?: readonly string[] | undefined
  /** A data directory that this case has loaded remains. */
  readonly isKept: boolean
}

/** Interval between two reads of the other tenant. */
const everyMs = 5
/** Measured time without other load. */
const quietMs = 10_000
/** Versions of the document whose history is opened. */
const versions = 20_000
const versionsPerQuery = 1000
/** Bound of the wait for a page, far above all measured times. */
const pageTimeoutMs = 3_600_000

const rows = 'section[aria-label="Documents"] tbody tr'
const dataCell = `${rows} td:nth-child(3)`

/** A state of a page: an element with this selector, whose text matches. */
interface PageState {
  readonly selector: string
  readonly text?: RegExp
}

/** The 20 000 versions have a second each, from midnight on, and these times are on the second page. */
const secondPage: PageState = { selector: '.time-line li', text: /05:30:/ }
const firstRow: PageState = { selector: dataCell }
const status = (text: RegExp): PageState => ({ selector: 'main [role=status]', text })
const progress = status(/so far/)
const estimate = status(/%|exactly|\d found\.$/i)
const allFound = status(/^[\d,]+ found\.$/)

interface PageAction {
  readonly name: string
  /** Address of the page, relative to the database. */
  readonly address: string
  /** Pressed when the page shows rows. The times count from here. */
  readonly button?: string
  /** States, of which the first that occurs counts. */
  readonly first: readonly PageState[]
  readonly estimate?: PageState
  readonly complete: PageState
}

function actionsFor(count: number): readonly PageAction[] {
  const page = (parameters: object, name = 'documents') =>
    `collections/${name}?${new URLSearchParams(Object.entries(parameters))}`
  const filter = (field: string, operator: string, value: unknown) =>
    JSON.stringify([[[field], operator, value]])
  const last = count - 1
  const list = { first: [firstRow], complete: firstRow }
  const scan = { first: [firstRow, progress], estimate, complete: allFound }
  const firstMatches = { ...list, complete: { selector: 'button', text: /^Show more$/ } }
  const counting = { button: 'Count all', first: [progress], estimate, complete: status(/^Exactly /) }
  return [
    {
      name: 'overview',
      address: '',
      first: [{ selector: 'main h1' }],
      complete: { selector: '.section-size' },
    },
    {
      name: 'list, with the number above it',
      address: page({}),
      first: [firstRow],
      complete: status(/^More than|^\d+ doc/),
    },
    {
      name: 'next page',
      address: page({}),
      button: 'Next →',
      ...list,
      complete: { selector: 'a', text: /Previous/ },
    },
    { name: 'last page', address: page({ order: 'descending' }), ...list },
    { name: 'exact count', address: page({}), ...counting },
    {
      name: 'filter that finds one document',
      address: page({ filter: filter('number', 'is', last) }),
      ...scan,
    },
    {
      name: 'filter for a text in one document',
      address: page({ filter: filter('text', 'has', `${last} lorem`) }),
      ...scan,
    },
    {
      name: 'filter that half of the documents match',
      address: page({ filter: filter('bucket', 'lt', 500) }),
      ...firstMatches,
    },
    { name: 'count of these documents', address: page({ filter: filter('bucket', 'lt', 500) }), ...counting },
    { name: 'sort without an index', address: page({ sort: 'bucket' }), ...scan },
    {
      name: 'index with a bound value',
      address: page({ index: 'by_group', terms: JSON.stringify([Math.floor(last / groupSize / 2)]) }),
      ...list,
    },
    {
      name: 'filter with an index',
      address: page({ filter: filter('key', 'is', sizedDocument(last).key) }),
      ...list,
    },
    {
      name: `history of ${versions} versions`,
      address: 'collections/versioned/1/history',
      first: [{ selector: '.time-line li' }],
      complete: { selector: 'section.version table' },
    },
    {
      name: 'older versions',
      address: 'collections/versioned/1/history',
      button: 'Show older versions',
      first: [secondPage],
      complete: secondPage,
    },
  ]
}

const admin = (server: ServerProcess) => `${server.rootSecret}:size:admin`
const other = (server: ServerProcess) => `${server.rootSecret}:other:admin`

/** Prints a table. Leaves further collections and databases in the data directory. */
export async function measureDashboard({ count, folder, isKept, kinds }: DashboardOptions): Promise<void> {
  if (skip) {
    console.log(`dashboard: NOT MEASURED, ${skip}`)
    return
  }
  const root = join(folder, 'terrarium-size')
  const data = join(root, 'data')
  const isNew = !existsSync(join(data, 'data.mdb'))
  await mkdir(data, { recursive: true })
  const server = await startProcess({ program: join(repository, 'bin/terrarium.js'), data })
  const browser = await launch()
  try {
    await prepare(server, isNew ? count : 0)
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, timezoneId: 'UTC' })
    page.setDefaultTimeout(pageTimeoutMs)
    await page.addInitScript(key => sessionStorage.setItem('terrarium-secret', key), admin(server))
    const loaded = await loadedCount(server)
    const actions = actionsFor(loaded).filter(({ name }) => kinds?.some(word => name.includes(word)) ?? true)
    console.log(
      `\ndashboard: ${loaded} documents; ms until …, CPU ms of the service, reads of another tenant in ms`,
    )
    await measureActions(page, server, actions)
  } finally {
    await browser.close()
    await server.stop()
    if (isNew && !isKept) await rm(root, { recursive: true, force: true })
  }
}

/** Loads `count` documents, and creates what this case reads beside them if it is missing. */
async function prepare(server: ServerProcess, count: number): Promise<void> {
  const run = (expression: unknown) => query(server, server.rootSecret, expression)
  if (count > 0) {
    await run({ create_database: literal({ name: 'size' }) })
    await createSizedSchema(server, admin(server))
    await createSized(server, admin(server), { collection: 'documents', from: 0, to: count })
  }
  if (await run({ exists: { database: 'other' } })) return
  await run({ create_database: literal({ name: 'other' }) })
  await query(server, other(server), { create_collection: literal({ name: 'things' }) })
  await query(server, other(server), { create: thing, params: literal({ data: literal({ n: 1 }) }) })
  await createVersions(server)
}

const thing = { ref: { collection: 'things' }, id: '1' }

/** Inserts versions into the history, because each transaction could otherwise write only one version. */
async function createVersions(server: ServerProcess): Promise<void> {
  const document = { ref: { collection: 'versioned' }, id: '1' }
  const of = (n: number) => literal({ data: literal({ n, text: `version ${n}` }) })
  await query(server, admin(server), {
    create_collection: literal({ name: 'versioned', history_days: 36_500 }),
  })
  await query(server, admin(server), { create: document, params: of(0) })
  for (let from = 0; from < versions; from += versionsPerQuery) {
    const inserts = Array.from({ length: versionsPerQuery }, (_, n) => ({
      insert: document,
      ts: { time: new Date(1_577_836_800_000 + (from + n) * 1000).toISOString() },
      action: 'update',
      params: of(from + n),
    }))
    await query(server, admin(server), { do: [...inserts, null] })
  }
}

const columns = ['first', 'estimate', 'complete', 'CPU', 'p50', 'p99', 'max', 'load']

async function measureActions(
  page: Page,
  server: ServerProcess,
  actions: readonly PageAction[],
): Promise<void> {
  const reader = new Reader({
    port: Number(new URL(server.url).port),
    secret: other(server),
    bodies: [JSON.stringify({ get: thing })],
    everyMs,
  })
  const row = (name: string, values: readonly (number | undefined)[]) => {
    const texts = values.map(value =>
      (value === undefined ? '' : value.toFixed(value < 100 ? 1 : 0)).padStart(9),
    )
    console.log(`${name.padEnd(42)}${texts.join('')}`)
  }
  /** Measures `work`, which returns the times of an action. */
  const measured = async (name: string, work: () => Promise<readonly (number | undefined)[]>) => {
    const before = serverMs(server.pid)
    reader.begin()
    const times = await work()
    const { max, p50, p99 } = await reader.stop()
    row(name, [...times, serverMs(server.pid) - before, p50, p99, max, loadavg()[0]])
  }
  try {
    console.log(`${''.padEnd(42)}${columns.map(name => name.padStart(9)).join('')}`)
    const idle = async () => {
      await page.waitForTimeout(quietMs)
      return [undefined, undefined, quietMs]
    }
    const base = `${server.url}/dashboard/`
    await page.goto(`${base}collections/documents`)
    await page.locator(dataCell).first().waitFor()
    await measured('nothing beside (warm-up)', idle)
    await measured('nothing beside', idle)
    for (const action of actions) {
      if (action.button !== undefined) {
        await page.goto(base + action.address)
        await page.getByText(action.button, { exact: true }).first().waitFor()
      } else await page.goto(`${base}functions`)
      await measured(action.name, () => timesOf(page, base, action))
    }
    await measured('nothing beside', idle)
    const memory = processesOf(server.pid).map(pid => memoryMebibytes(pid).own.toFixed(0))
    console.log(`private memory of the processes at the end: ${memory.join(', ')} MiB`)
  } finally {
    await reader.close()
  }
}

/** Milliseconds until the first state, the estimate and the complete page. */
async function timesOf(
  page: Page,
  base: string,
  { address, button, complete, estimate, first }: PageAction,
): Promise<readonly (number | undefined)[]> {
  const startedMs = performance.now()
  const after = async (states: readonly PageState[]) => {
    await Promise.any(states.map(state => reached(page, state)))
    return performance.now() - startedMs
  }
  if (button === undefined) await follow(page, base + address)
  else await page.getByText(button, { exact: true }).first().click()
  return Promise.all([after(first), estimate && after([estimate]), after([complete])])
}

async function reached(page: Page, { selector, text }: PageState): Promise<void> {
  await page.waitForFunction(
    ([wanted, pattern]) =>
      [...document.querySelectorAll(wanted as string)].some(element =>
        new RegExp(pattern as string, 'i').test(element.textContent ?? ''),
      ),
    [selector, text?.source ?? ''],
  )
}

/** Opens an address with a link of the page, so that the application stays loaded. */
async function follow(page: Page, href: string): Promise<void> {
  await page.evaluate(to => {
    const link = Object.assign(document.createElement('a'), { href: to })
    document.body.append(link)
    link.click()
    link.remove()
  }, href)
}
