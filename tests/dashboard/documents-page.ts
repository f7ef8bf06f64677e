// Helpers for tests of the page with the documents of a collection.

import type { Page } from 'playwright-core'
import type { Stage } from './stage.ts'

/** Creates a collection with documents, whose ids are 1, 2, 3 and so on. */
export async function createDocuments(
  stage: Stage,
  collection: string,
  documents: readonly object[],
): Promise<void> {
  await stage.query({ create_collection: { object: { name: collection } } })
  for (let from = 0; from < documents.length; from += 1000) {
    const some = documents.slice(from, from + 1000).map((data, at) => ({
      create: { ref: { collection }, id: String(from + at + 1) },
      params: { object: { data: { object: data } } },
    }))
    await stage.query({ do: [...some, null] })
  }
}

export const dataOf = (stage: Stage, collection: string, id: string): Promise<unknown> =>
  stage.query({ select: ['data'], from: { get: { ref: { collection }, id } } })

export function createUniqueIndex(stage: Stage, name: string, collection: string, field: string) {
  const fields = `source: Collection("${collection}"), terms: [{ field: ["data", "${field}"] }], unique: true`
  return stage.run(`CreateIndex({ name: "${name}", ${fields} })`)
}

/** A selector for the cells of a column, by its position after the checkboxes and ids. */
export const cellsOf = (column: number) => `section[aria-label="Documents"] tbody td:nth-child(${column + 3})`

/** Sets the filter of the page. */
export async function filterBy(page: Page, field: string, compare: string, value?: string): Promise<void> {
  await page.getByLabel('Filter by').fill(field)
  await page.getByLabel('Compare').selectOption(compare)
  if (value !== undefined) await page.getByLabel('Value', { exact: true }).fill(value)
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
}
