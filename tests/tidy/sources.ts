// Reads every TypeScript file of the repository once, for the tidy tests. Paths are relative to the repository's root.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../support/program.ts'

export interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string
  readonly text: string
  /** The lines of code with their numbers, without empty lines and comments. */
  readonly code: readonly { readonly line: number; readonly text: string }[]
}

/** The files that match a glob, from the repository's root. */
export function files(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: repository, exclude: name => name === 'node_modules' }).sort()
}

/** The text of a file, by its path from the repository's root. */
export function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8')
}

function codeLines(text: string): SourceFile['code'] {
  return text
    .split('\n')
    .map((content, index) => ({ line: index + 1, text: content.replace(/(^|\s)\/\/ .*$/, '').trim() }))
    .filter(({ text }) => text !== '' && !/^(\/\/|\/\*|\*)/.test(text))
}

export const sources: readonly SourceFile[] = files(
  '{{src,tests,bench,scripts,client/src}/**/*.ts,dashboard/src/**/*.{ts,tsx}}',
).map(path => {
  const text = read(path)
  return { path, text, code: codeLines(text) }
})
