// The case `dashboard`: the browser's longest task on pages with much data.

import type { Page } from 'playwright-core'
import { openStage, type Stage, skip } from '../tests/dashboard/stage.ts'

export interface PageResult {
  readonly name: string
  /** The longest task, in milliseconds; 0 if all tasks took less than 50 ms. */
  readonly longestMs: number
}

const collections = 1000
const items = 20_000
const longLineChars = 7_500_000

declare global {
  /** In the browser: durations of tasks over 50 ms, in milliseconds. */
  var longTasks: number[]
}

/**
 * Seeds a database, opens its pages one after the other and calls `onResult` for each. Returns the reason if it cannot
 * run.
 */
export async function measureDashboard(onResult: (result: PageResult) => void): Promise<string | undefined> {
  if (skip) return skip
  const stage = await openStage()
  try {
    await seed(stage)
    const page = await stage.open()
    await page.addInitScript(() => {
      globalThis.longTasks = []
      const observer = new PerformanceObserver(list => {
        for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration)
      })
      observer.observe({ type: 'longtask' })
    })
    await page.reload()
    for (const { name, show } of steps(stage, page)) {
      await show()
      // The browser reports its tasks when it is idle.
      await page.waitForTimeout(2000)
      const tasks = await page.evaluate(() => globalThis.longTasks.splice(0))
      onResult({ name, longestMs: Math.max(0, ...tasks) })
    }
  } finally {
    await stage.close()
  }
  return undefined
}

async function seed(stage: Stage): Promise<void> {
  const named = { object: { name: { concat: ['c', { to_string: { var: 'i' } }] } } }
  for (let from = 0; from < collections; from += 100) {
    const collection = Array.from({ length: 100 }, (_, at) => from + at)
    await stage.query({ foreach: { lambda: 'i', expr: { create_collection: named } }, collection })
  }
  await stage.query({ create_collection: { object: { name: 'big' } } })
  const put = (id: string, data: Readonly<Record<string, unknown>>) =>
    stage.query({
      select: 'ts',
      from: { create: { ref: { collection: 'big' }, id }, params: { object: { data: { object: data } } } },
    })
  const text = 'two hundred and sixty characters or so '.repeat(7)
  await put('1', { items: Array.from({ length: items }, (_, id) => ({ object: { id, text } })) })
  await put('2', { line: 'x'.repeat(longLineChars) })
}

interface Step {
  readonly name: string
  readonly show: () => Promise<void>
}

function steps(stage: Stage, page: Page): Step[] {
  const editor = page.getByRole('textbox', { name: 'Data' })
  const visit = (name: string, address: string, isThere: () => Promise<void>): Step => ({
    name,
    show: async () => {
      await stage.visit(page, address)
      await isThere()
    },
  })
  return [
    {
      name: `signed in, ${collections} collections`,
      show: async () => {
        await page.getByLabel('Secret').fill(stage.admin)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByRole('link', { name: 'c999', exact: true }).waitFor()
      },
    },
    { name: 'collections found by typing', show: () => page.getByLabel('Find a collection').fill('c77') },
    { name: 'all collections again', show: () => page.getByLabel('Find a collection').fill('') },
    visit('rows of megabytes', 'collections/big', () =>
      page.getByRole('link', { name: '2', exact: true }).waitFor(),
    ),
    visit(`a document of ${items} objects`, 'collections/big/1', () => editor.getByText('items:').waitFor()),
    {
      name: 'typing into it',
      show: async () => {
        await editor.click()
        await page.keyboard.press('Control+Home')
        await page.keyboard.press('ArrowRight')
        await page.keyboard.insertText(' added: 1,')
      },
    },
    {
      name: 'saving it',
      show: async () => {
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Saved.').waitFor()
      },
    },
    visit('its history', 'collections/big/1/history', () =>
      page.getByRole('region', { name: 'Differences' }).waitFor(),
    ),
    visit(`a line of ${longLineChars} characters`, 'collections/big/2', () =>
      editor.getByText('characters are not shown').waitFor(),
    ),
    visit('the shell', 'shell', () => page.getByRole('textbox', { name: 'Query' }).waitFor()),
    {
      name: 'a result of megabytes',
      show: async () => {
        await page.getByRole('textbox', { name: 'Query' }).click()
        await page.keyboard.insertText('Get(Ref(Collection("big"), "1"))')
        await page.getByRole('button', { name: 'Run' }).click()
        await page.getByRole('textbox', { name: 'Result' }).waitFor()
      },
    },
    {
      name: 'the same as JSON',
      show: async () => {
        await page.getByRole('button', { name: 'As JSON' }).click()
        await page.getByRole('textbox', { name: 'Result' }).getByText('"items"').waitFor()
      },
    },
  ]
}
