// Makes docs/reference/functions.md from the definitions of the functions.

import type { FunctionDefinition } from '../src/fql4/definition.ts'
import { families } from '../src/fql4/functions/registry.ts'

function signature({ arguments: types, keys }: FunctionDefinition): string {
  const parts = keys.map(key => `\`${key}${types[key]?.optional ? '?' : ''}\`: ${types[key]?.name}`)
  return parts.join(', ')
}

function notes({ deprecatedFor, since, until }: FunctionDefinition): string {
  const texts: string[] = []
  if (since !== '2.0') texts.push(`From API version ${since}.`)
  if (until) texts.push(`Before API version ${until}.`)
  if (deprecatedFor) texts.push(`Kept for older drivers; prefer \`${deprecatedFor}\`.`)
  return texts.join(' ')
}

function entry(definition: FunctionDefinition): string {
  const [query, answer] = definition.example
  return [
    `### ${definition.name}`,
    '',
    [definition.summary, notes(definition)].filter(Boolean).join(' '),
    '',
    `| arguments | result | effect |`,
    `|---|---|---|`,
    `| ${signature(definition)} | ${definition.result} | ${definition.effect} |`,
    '',
    '```json',
    query,
    '```',
    '',
    '```json',
    answer,
    '```',
    '',
  ].join('\n')
}

export function functionReference(): string {
  const count = families.reduce((sum, each) => sum + each.definitions.length, 0)
  const chapters = families.map(each => [`## ${each.name}`, '', ...each.definitions.map(entry)].join('\n'))
  const intro = [
    '# Functions',
    '',
    `All ${count} forms of the query language in the JSON of requests: an object is a call of the function whose`,
    'arguments are exactly its keys. Drivers write the same calls in their own syntax. This page is generated from',
    'the code (`npm run generate`), and every example is run by the tests.',
    '',
    'Beside the functions there are literals, `{"object": {…}}` for objects, `{"let": {…}, "in": …}` and `{"var": …}`',
    'for variables, `{"quote": …}` for values that are not evaluated, and the tags `@ref`, `@set`, `@ts`, `@date`,',
    '`@bytes`, `@uuid`, `@query` and `@obj`.',
    '',
  ].join('\n')
  return `${intro}\n${chapters.join('\n')}`
}
