// Writes the pages and tables that are generated from the code: `npm run generate`. A tidy test fails if one of them is
// out of date.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readOptions } from './command-line.ts'
import { cliReference } from './generate-cli.ts'
import { functionTableFile } from './generate-fql.ts'
import { fql10Files } from './generate-fql10.ts'
import { withLayerPicture } from './generate-picture.ts'
import { functionReference } from './generate-reference.ts'
import { withSettings } from './generate-settings.ts'
import { tablePages } from './generate-tables.ts'

/** Functions by the path of the file that they generate. The argument is the present text of the file. */
export const generatedFiles: Readonly<Record<string, (present: string) => string>> = {
  'ARCHITECTURE.md': withLayerPicture,
  'docs/operations.md': withSettings,
  'docs/reference/cli.md': cliReference,
  'docs/reference/functions.md': functionReference,
  'src/fql4/text/function-table.ts': functionTableFile,
  ...fql10Files,
  ...tablePages,
}

if (import.meta.main) {
  readOptions({
    usage: 'npm run generate\n\nWrites the pages and tables that are generated from the code.',
    options: {},
  })
  for (const [path, make] of Object.entries(generatedFiles)) {
    const file = fileURLToPath(new URL(`../${path}`, import.meta.url))
    const present = readFileSync(file, 'utf8')
    const text = make(present)
    if (text === present) continue
    writeFileSync(file, text)
    console.log(`updated ${path}`)
  }
}
