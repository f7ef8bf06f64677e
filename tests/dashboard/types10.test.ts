// Type errors of version 10 at their places: while the user types, after a run, and in the schema files. Completion by
// the types of values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { completeQuery } from '../../dashboard/src/wire/complete-query.ts'
import { fql } from '../support/http.ts'
import { pushFiles, requestSchema } from '../support/schema-files.ts'
import { accessibilityFaults, skip, stageOfFile, typeInto, underlinedText } from './stage.ts'

const schema = `collection User {
  name: String
  email: String
  age: Int?
  index byEmail { terms [.email] }
}
function older(id: ID, years: Int): User {
  let user = User.byId(id)!
  user.update({ age: (user.age ?? 0) + years })
}
`

let checked = ''

const stage = stageOfFile(async () => {
  const { rootSecret } = stage.server
  await fql(stage.server, rootSecret, 'Database.create({ name: "checked" }).name')
  checked = `${rootSecret}:checked:admin`
  await pushFiles(stage.server, checked, { 'main.fsl': schema })
  await pushFiles(stage.server, stage.admin, { 'main.fsl': schema })
})

async function shell10(secret: string): Promise<Page> {
  const page = await stage.signedIn(secret, 'shell')
  await page.getByRole('button', { name: 'Version 10' }).click()
  return page
}

/** Type errors, each with its text, the underlined part, and the line of the summary under the faulty line. */
const mistakes = [
  {
    name: 'a misspelt field',
    text: 'User.where(.nmae == "Ann").count()',
    message: /does not have field `nmae`/,
    marked: 'nmae',
    drawn: /\n1 \| User\.where\(\.nmae == "Ann"\)\.count\(\)\n {2}\| {13}\^{4}\n/,
  },
  {
    name: 'a value that may be null',
    text: 'let user = User.byEmail("ann@x").first()\nuser.name',
    message: /Type `Null` does not have field `name`/,
    marked: 'name',
    drawn:
      /\n2 \| user\.name\n {2}\| {6}\^{4}\n[\s\S]*hint: Use the ! or \?\. operator to handle the null case/,
  },
  {
    name: 'a wrong argument of a function',
    text: 'older("1", "2")',
    message: /Type `(String|"2")` is not a subtype of `Int`/,
    marked: '"2"',
    drawn: /\n1 \| older\("1", "2"\)\n {2}\| {12}\^{3}\n/,
  },
]

for (const { drawn, marked, message, name, text } of mistakes) {
  test(`${name} is underlined while typing, and drawn when the query runs`, { skip }, async () => {
    const page = await shell10(checked)
    await typeInto(page, 'Query', text)
    assert.equal(await underlinedText(page), marked)
    await page.locator('.cm-lintRange-error').first().hover()
    await page.locator('.cm-tooltip-lint').getByText(message).waitFor()
    await page.getByRole('button', { name: 'Run' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('invalid_query').waitFor()
    const shown = (await alert.locator('pre').textContent()) ?? ''
    assert.match(shown, message)
    assert.match(shown, drawn)
    assert.equal(await underlinedText(page), marked)
    assert.deepEqual(await accessibilityFaults(page), [])
  })
}

test('marks disappear when the error is corrected, and no query runs while typing', { skip }, async () => {
  const page = await shell10(checked)
  const paths: string[] = []
  page.on('request', request => paths.push(new URL(request.url()).pathname))
  await typeInto(page, 'Query', 'User.create({ name: "Eve", email: "e", nick: "x" })')
  assert.equal(await underlinedText(page), '{ name: "Eve", email: "e", nick: "x" }')
  const answered = page.waitForResponse(response => response.url().endsWith('/api/v1/check'))
  await typeInto(page, 'Query', 'User.create({ name: "Eve", email: "e" })')
  await answered
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' })
  assert.equal(await fql(stage.server, checked, 'User.all().count()'), 0)
  assert.ok(!paths.includes('/query/1'))
})

test('an incomplete query has no marks, and neither has a database without checks', { skip }, async () => {
  const marksOf = async (page: Page, text: string) => {
    const answered = page.waitForResponse(response => response.url().endsWith('/api/v1/check'))
    await typeInto(page, 'Query', text)
    await (await answered).finished()
    // The editor shows the marks of a response before the next frame.
    await page.evaluate(
      () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    )
    return page.locator('.cm-lintRange-error').count()
  }
  const page = await shell10(checked)
  assert.equal(await marksOf(page, 'User.all().map(u => u.name'), 0)
  await typeInto(page, 'Query', 'User.all().map(u => u.nmae)')
  assert.equal(await underlinedText(page), 'nmae')
  const plain = await shell10(stage.admin)
  assert.equal(await marksOf(plain, 'User.all().map(u => u.nmae)'), 0)
  await typeInto(plain, 'Query', 'User.all()) + 1')
  assert.equal(await underlinedText(plain), ')', 'syntax errors are marked in every database')
})

test('completion lists the members of the type of a value', { skip }, async () => {
  const page = await shell10(checked)
  const offered = async (text: string) => {
    await typeInto(page, 'Query', '')
    await page.getByRole('textbox', { name: 'Query', exact: true }).click()
    await page.keyboard.insertText(text.slice(0, -1))
    await page.keyboard.type(text.slice(-1))
    const options = page.locator('.cm-tooltip-autocomplete').getByRole('option')
    await options.first().waitFor()
    const found = await options.allTextContents()
    await page.keyboard.press('Escape')
    await options.first().waitFor({ state: 'detached' })
    return found
  }
  const user = await offered('older("1", 2).')
  assert.ok(user.includes('emailString'), user.join(' '))
  assert.ok(
    user.some(each => each.startsWith('update(')),
    user.join(' '),
  )
  assert.ok(!user.some(each => each.startsWith('toUpperCase')), 'no members of other types')
  const inLambda = await offered('let found = User.byEmail("a")\nfound.map(u => u.')
  assert.ok(inLambda.includes('ageInt? of User') && inLambda.includes('tsTime'), inLambda.join(' '))
  const array = await offered('[1, 2].')
  assert.ok(
    array.some(each => each.startsWith('append(element: 1 | 2)')),
    array.join(' '),
  )
  const unknown = await offered('(x => x.')
  assert.ok(
    unknown.some(each => each.includes(' of Date')),
    'all members for a value of unknown type',
  )
})

test('a button lists all type errors of the schema, and marks them in the files', { skip }, async () => {
  const faulty = `${schema.replace('user.age ?? 0', 'user.agee ?? 0')}function other() { missing }\n`
  const unchecked = { 'x-typecheck': 'false' }
  const files = { 'main.fsl': faulty }
  const pushed = await requestSchema(stage.server, checked, 'update?force=true', files, unchecked)
  assert.equal(pushed.status, 200, pushed.text)
  const page = await stage.signedIn(checked, 'schema-files')
  await page.getByRole('button', { name: 'Check types' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The schema has errors.').waitFor()
  const drawn = (await page.locator('pre.drawn').textContent()) ?? ''
  assert.match(drawn, /does not have field `agee`\nat main\.fsl:9:28\n/)
  assert.match(drawn, /Unbound variable `missing`\nat main\.fsl:11:20\n/)
  await page.locator('.cm-lintRange-error').first().waitFor()
  assert.deepEqual((await page.locator('.cm-lintRange-error').allTextContents()).sort(), ['agee', 'missing'])
  assert.deepEqual(await accessibilityFaults(page), [])
  await typeInto(page, 'Text of the file', schema)
  await page.locator('.cm-lintRange-error').first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Check types' }).click()
  await page.getByText('No errors.').waitFor()
  const stored = await fql(stage.server, checked, 'Function.byName("other")!.name')
  assert.equal(stored, 'other', 'a check writes nothing')
})

test('a text before the cursor is completed to a query', () => {
  assert.equal(completeQuery('User.all().map(u => { [u.'), 'User.all().map(u => { [u.name]})')
  assert.equal(completeQuery('let a = "(" // [\na.'), 'let a = "(" // [\na.name')
  assert.equal(completeQuery('f(")").'), 'f(")").name')
  assert.equal(completeQuery('"text.'), undefined)
  assert.equal(completeQuery('a // b.'), undefined)
})
