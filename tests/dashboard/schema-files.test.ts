// Edits, compares, pushes and stages schema files of version 10, with errors at their place and concurrent writers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { requestSchema } from '../support/schema-files.ts'
import { accessibilityFaults, press, settled, skip, stageOfFile, typeInto } from './stage.ts'

const first = 'collection Tea {\n  name: String\n}\n'

const stage = stageOfFile()

/** Sends a request to a schema endpoint as the admin; with files, by POST. */
async function schema(path: string, files?: Readonly<Record<string, string>>): Promise<unknown> {
  const { json, status, text } = await requestSchema(stage.server, stage.admin, path, files)
  assert.equal(status, 200, text)
  return json
}

const textOf = async (name: string) =>
  ((await schema(`files/${encodeURIComponent(name)}`)) as { content: string }).content

const names = async () =>
  ((await schema('files')) as { files: { filename: string }[] }).files.map(({ filename }) => filename)

/** Opens the page with a schema that consists of these files. */
async function opened(files: Readonly<Record<string, string>>, options = {}): Promise<Page> {
  await schema('update', files)
  const page = await stage.signedIn(stage.admin, 'schema-files', options)
  await settled(page)
  return page
}

const label = 'Text of the file'

test('files are added, edited, compared and pushed, and keep their line ends', { skip }, async () => {
  const page = await opened({})
  await page.getByText('There are no schema files').waitFor()
  await press(page, 'Add file')
  await page.getByRole('textbox', { name: 'Name' }).fill('main.txt')
  await press(page, 'Add')
  await page.getByRole('alert').getByText('ends in .fsl').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('main.fsl')
  await press(page, 'Add')
  await typeInto(page, label, first)
  await press(page, 'Compare')
  await page.getByText('* Adding collection `Tea` to main.fsl:1:1').waitFor()
  await page.getByText('+ collection Tea {').waitFor()
  assert.match((await page.locator('.drawn-diff ins').first().textContent()) ?? '', /^\+/)
  assert.deepEqual(await names(), [], 'comparing writes nothing')
  await press(page, 'Push')
  await page.getByText('Saved.').waitFor()
  assert.equal(await textOf('main.fsl'), first)
  await press(page, 'Rename')
  await page.getByRole('textbox', { name: 'Name' }).fill('shop/tea.fsl')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await press(page, 'Push')
  await page.getByText('Saved.').waitFor()
  assert.deepEqual(await names(), ['shop/tea.fsl'])
  assert.equal(await textOf('shop/tea.fsl'), first)
})

test('an error is drawn and underlined in its file, and leaving the page with the text asks first', {
  skip,
}, async () => {
  const page = await opened({ 'a.fsl': first, 'b.fsl': 'function f(x) {\n  x\n}\n' })
  await typeInto(page, label, 'collection Tea {\n  name: Strin\n}\n')
  await press(page, 'Push')
  await page.getByRole('alert').getByText('rejected this schema').waitFor()
  await page.locator('pre').getByText('Unknown type `Strin`').waitFor()
  const underlined = page.locator('.cm-lintRange-error')
  await underlined.first().waitFor()
  assert.equal((await underlined.allTextContents()).join(''), 'Strin')
  await page.getByRole('button', { name: 'a.fsl (changed) (errors)' }).waitFor()
  await press(page, 'b.fsl')
  await page.getByRole('textbox', { name: label }).getByText('function').waitFor()
  await underlined.first().waitFor({ state: 'detached' })
  const asked = page.waitForEvent('dialog')
  await page.getByRole('link', { name: 'Indexes' }).click()
  assert.match((await asked).message(), /Unsaved changes will be lost/)
  assert.equal(await textOf('a.fsl'), first)
})

test('a conflicting push shows the changes of the other client, even of a comment', { skip }, async () => {
  const page = await opened({ 'a.fsl': first, 'b.fsl': '// old\n' })
  await typeInto(page, label, `${first}// mine\n`)
  await schema('update?override=false', { 'b.fsl': '// theirs\n' })
  await press(page, 'Push')
  await page.getByRole('alert').getByText('Another user has changed the schema').waitFor()
  assert.equal(await textOf('a.fsl'), first)
  await page.getByRole('cell', { name: '// mine' }).waitFor()
  await press(page, 'Overwrite with my version')
  await page.getByText('Saved.').waitFor()
  assert.equal(await textOf('a.fsl'), `${first}// mine\n`)
  assert.equal(await textOf('b.fsl'), '// theirs\n', 'changes of only the other client are merged')
})

test('a push warns about constraints without effect', { skip }, async () => {
  const page = await opened({ 'main.fsl': first })
  await typeInto(page, label, 'collection Tea {\n  name: String\n  unique [.nmae]\n}\n')
  await press(page, 'Compare')
  const warning = page.getByText('`.nmae` has no value in `unique [.nmae]` of `Tea`')
  await warning.waitFor()
  await press(page, 'Push')
  await page.getByRole('heading', { name: 'Warnings about the pushed schema' }).waitFor()
  assert.equal(await warning.count(), 1)
  assert.match(await textOf('main.fsl'), /nmae/)
})

test('removing a collection asks first and names it', { skip }, async () => {
  const page = await opened({ 'a.fsl': first, 'b.fsl': '// empty\n' })
  const asked = page.waitForEvent('dialog')
  await press(page, 'Remove')
  await press(page, 'Push')
  assert.match((await asked).message(), /deletes these collections with all their documents: Tea/)
  await page.getByText('Saved.').waitFor()
  assert.deepEqual(await names(), ['b.fsl'])
})

test('a push is staged, committed and abandoned', { skip }, async () => {
  const page = await opened({ 'a.fsl': first })
  const second = first.replace('}', '  index byName { terms [.name] }\n}')
  await typeInto(page, label, second)
  await page.getByLabel('Stage:').check()
  await press(page, 'Push staged')
  await page.getByText('The staged schema is ready to be committed.').waitFor()
  await page.getByText('+ add index `byName`').first().waitFor()
  assert.equal(await textOf('a.fsl'), first, 'it is not in force')
  assert.deepEqual(await accessibilityFaults(page), [])
  await press(page, 'Commit')
  await press(page, 'Commit schema')
  await page.getByText('A schema is staged').waitFor({ state: 'detached' })
  assert.equal(await textOf('a.fsl'), second)
  await typeInto(page, label, first)
  await press(page, 'Push staged')
  await page.getByText('The staged schema is ready to be committed.').waitFor()
  await schema('update?staged=true', { 'a.fsl': `${first}// theirs\n` })
  await press(page, 'Abandon')
  await press(page, 'Abandon schema')
  await page.getByRole('alert').getByText('Another user has changed this').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: label }).getByText('// theirs').waitFor()
  await press(page, 'Abandon')
  await press(page, 'Abandon schema')
  await page.getByText('A schema is staged').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: label }).getByText('byName').waitFor()
  assert.equal(await textOf('a.fsl'), second)
})

test('keys without admin rights read files or get an explanation, and hostile names and texts cannot become code', {
  skip,
}, async () => {
  const name = '"><img src=x onerror=alert(1)>.fsl'
  const viewport = { width: 375, height: 740 }
  const page = await opened({ [name]: '// <script>alert(2)</script>\n' }, { viewport })
  await page.getByRole('textbox', { name: label }).getByText('<script>').waitFor()
  assert.equal(await page.locator('main img, main script').count(), 0)
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 375)
  await typeInto(page, label, '// <b>more</b>\n')
  await press(page, 'Push')
  await page.getByText('Saved.').waitFor()
  assert.deepEqual(await names(), [name])
  await page.context().close()
  const reader = await stage.signedIn(await stage.keyOf('server'), 'schema-files')
  await reader.getByText('only admin keys can change schema files').waitFor()
  assert.equal(await reader.getByRole('button', { name: 'Push' }).count(), 0)
  await reader.context().close()
  const client = await stage.signedIn(await stage.keyOf('client'), 'schema-files')
  await client.getByText('Your secret may not read schema files').waitFor()
})

test('keywords of schema files are coloured, but not as names', { skip }, async () => {
  const text =
    'collection Tea {\n  role: String\n  index byRole {\n    terms [.role]\n  }\n  unique [.role]\n}\n'
  const page = await opened({ 'main.fsl': text })
  const editor = page.getByRole('textbox', { name: label })
  await editor.getByText('byRole').waitFor()
  const coloured = await editor.evaluate(content => {
    const plain = getComputedStyle(content).color
    const words = [...content.querySelectorAll('.cm-line span')]
    return words.filter(word => getComputedStyle(word).color !== plain).map(word => word.textContent)
  })
  const keywords = ['collection', 'index', 'terms', 'unique']
  assert.deepEqual(
    coloured.filter(word => keywords.includes(word)),
    keywords,
  )
  const colourOf = (word: string) =>
    editor
      .getByText(word, { exact: true })
      .first()
      .evaluate(span => getComputedStyle(span).color)
  assert.notEqual(await colourOf('role'), await colourOf('collection'), 'a field is not a keyword')
})
