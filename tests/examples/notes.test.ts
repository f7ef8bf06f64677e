// The example app in Chromium, started as its README says: two people, each with notes of their own, in two windows
// that follow.

import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { launch, skip } from '../browser/chromium.ts'
import { patience } from '../support/patience.ts'
import { program, repository, runProgram, temporaryFolder } from '../support/program.ts'
import { assertSound } from '../support/sound.ts'

let folder: string
let app: ChildProcess
let browser: Browser
let address = ''

/** A copy of the app, with the client beside it as npm would install it, and the program on the path. */
async function installApp(): Promise<void> {
  const packages = join(folder, 'node_modules/terrarium-client')
  await mkdir(join(folder, 'bin'), { recursive: true })
  await mkdir(packages, { recursive: true })
  await cp(join(repository, 'examples/notes'), join(folder, 'notes'), {
    recursive: true,
    filter: path => !/\/(data|node_modules)$/.test(path),
  })
  await cp(join(repository, 'client/package.json'), join(packages, 'package.json'))
  const build = [join(repository, 'client/build.js'), join(packages, 'dist')]
  await promisify(execFile)(process.execPath, build)
  const command = join(folder, 'bin/terrarium')
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  await chmod(command, 0o755)
}

before(async () => {
  if (skip) return
  folder = await temporaryFolder()
  await installApp()
  const path = [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter)
  const own = { PATH: path, PORT: '0', DATABASE_PORT: '0', TERRARIUM_PASSWORD_COST: '4' }
  app = spawn(process.execPath, ['start.ts'], {
    cwd: join(folder, 'notes'),
    env: { ...process.env, ...own },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(app.stdout as Readable)) {
    address = /^Open (\S+)$/.exec(line)?.[1] ?? ''
    if (address !== '') break
  }
  browser = await launch()
})

after(async () => {
  if (skip) return
  await browser?.close()
  app.kill('SIGTERM')
  assert.deepEqual(await once(app, 'exit'), [0, null])
  await assertSound(join(folder, 'notes/data'))
  await rm(folder, { recursive: true, force: true })
})

/** A browser window in which the app is open. */
async function openWindow(): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(patience(15_000))
  await page.goto(address)
  return page
}

async function enter(
  page: Page,
  email: string,
  password: string,
  button: 'Log in' | 'Sign up',
): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: button }).click()
}

async function add(page: Page, text: string): Promise<void> {
  await page.getByLabel('Note', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Add' }).click()
}

test('people sign up, log in, and see their own notes change', {
  skip,
  timeout: patience(90_000),
}, async () => {
  const ann = await openWindow()
  await enter(ann, 'ann@example.org', 'correct horse', 'Sign up')
  await ann.getByText('ann@example.org').waitFor()
  await add(ann, 'buy tea')
  await ann.getByText('buy tea').waitFor()

  const phone = await openWindow()
  await enter(phone, 'ann@example.org', 'wrong', 'Log in')
  await phone.getByText('Wrong email or password.').waitFor()
  await enter(phone, 'nobody@example.org', 'wrong', 'Log in')
  await phone.getByText('Wrong email or password.').waitFor()
  await enter(phone, 'ann@example.org', 'correct horse', 'Log in')
  await phone.getByText('buy tea').waitFor()

  const bob = await openWindow()
  await enter(bob, 'ann@example.org', 'other', 'Sign up')
  await bob.getByText('There is a user with this email.').waitFor()
  await enter(bob, 'bob@example.org', 'other', 'Sign up')
  await bob.getByText('bob@example.org').waitFor()
  await add(bob, 'own note')
  await bob.getByText('own note').waitFor()

  await add(ann, 'sell rice')
  await phone.getByText('sell rice').waitFor()
  await phone.getByLabel('Done: buy tea').check()
  await ann.locator('li.done', { hasText: 'buy tea' }).waitFor()
  await ann.locator('li', { hasText: 'sell rice' }).getByRole('button', { name: 'Delete' }).click()
  await phone.locator('li', { hasText: 'sell rice' }).waitFor({ state: 'detached' })
  assert.deepEqual(await bob.locator('li span').allTextContents(), ['own note'])

  await ann.reload()
  await ann.getByText('buy tea').waitFor()
  await ann.getByRole('button', { name: 'Log out' }).click()
  await ann.getByRole('button', { name: 'Log in' }).waitFor()
  await ann.reload()
  await ann.getByRole('button', { name: 'Log in' }).waitFor()
  // The other window has another token.
  await phone.reload()
  await phone.getByText('buy tea').waitFor()
})

test('the types of the app match its schema', async () => {
  const { stdout } = await runProgram(['types', join(repository, 'examples/notes/schema')])
  assert.equal(await readFile(join(repository, 'examples/notes/app/schema.ts'), 'utf8'), stdout)
})
