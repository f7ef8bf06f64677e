// Makes docs/reference/limits.md and docs/reference/errors.md from the tables in the code and their comments.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { type RequestErrorCode, requestErrors } from '../src/base/request-errors.ts'
import { queryErrorStatus } from '../src/fql4/query-errors.ts'

const root = new URL('..', import.meta.url)

/** Names that share a doc comment. */
interface DocumentedNames {
  readonly names: readonly string[]
  readonly doc: string
}

/** Members of the object literal that begins with `start`, grouped by the comments above them. */
function documented(text: string, start: string): readonly DocumentedNames[] {
  const from = text.indexOf(start)
  const members = text.slice(from, text.indexOf('} as const', from))
  const groups: { names: string[]; doc: string }[] = []
  for (const [, doc, quoted, plain] of members.matchAll(
    /\/\*\*([\s\S]*?)\*\/|^ {2}'([^']+)':|^ {2}(\w+):/gm,
  )) {
    if (doc !== undefined) groups.push({ names: [], doc: textOf(doc) })
    else groups.at(-1)?.names.push((quoted ?? plain) as string)
  }
  return groups
}

/** Returns the comment in one line. */
function textOf(comment: string): string {
  const lines = comment.split('\n').map(line => line.replace(/^\s*\*?\s*/, '').trim())
  return lines
    .join(' ')
    .trim()
    .replace(/\{@link (\w+)\}/g, '`$1`')
}

/** `const limits = {…}`, or a name that ends with `Limits`. */
const limitsTable = /^(?:export )?const (?:limits|\w+Limits) = \{$/m

function limitRows(path: string): readonly string[] {
  const text = readFileSync(new URL(path, root), 'utf8')
  const [start] = limitsTable.exec(text) ?? []
  if (start === undefined) return []
  return documented(text, start).map(({ names, doc }) => {
    const values = names.map(name => numberAfter(text, name))
    return `| ${names.map(name => `\`${name}\``).join('<br>')} | ${values.join('<br>')} | ${doc} |`
  })
}

/** Returns a number with spaces between thousands. Products are computed. */
function numberAfter(text: string, name: string): string {
  const [, product = ''] = new RegExp(`^ {2}${name}: ([\\d_ *]+),$`, 'm').exec(text) ?? []
  const value = product.split('*').reduce((result, factor) => result * Number(factor.replaceAll('_', '')), 1)
  assert(product !== '' && Number.isFinite(value), `the limit ${name} is a number`)
  return value.toLocaleString('en-US').replaceAll(',', ' ')
}

const sharedLimits = 'src/base/limits.ts'

function limitsPage(): string {
  const paths = globSync('src/**/*.ts', { cwd: root }).sort()
  const folders = Map.groupBy(
    paths.filter(path => path !== sharedLimits),
    path => path.slice(0, path.lastIndexOf('/')),
  )
  const sections = [
    ['Limits that several files use', limitRows(sharedLimits)] as const,
    ...Array.from(folders, ([folder, files]) => [`\`${folder}\``, files.flatMap(limitRows)] as const),
  ]
  return [
    '# Limits',
    '',
    'These limits apply to requests, queries and responses. An "own limit" is a choice of Terrarium; the others are the',
    'limits of the hosted service. Operators can set further limits (concurrent requests and streams, rates per database): see',
    '[Running Terrarium](../operations.md). Generated from the tables of limits in `src` by `npm run generate`.',
    '',
    ...sections
      .filter(([, rows]) => rows.length > 0)
      .flatMap(([title, rows]) => [
        `## ${title}`,
        '',
        '| name | value | meaning |',
        '|---|---:|---|',
        ...rows,
        '',
      ]),
  ].join('\n')
}

function errorRows(
  path: string,
  name: string,
  statuses: Readonly<Record<string, number>>,
): readonly string[] {
  return documented(readFileSync(new URL(path, root), 'utf8'), `export const ${name} = {`).flatMap(
    ({ names, doc }) => names.map(code => `| \`${code}\` | ${statuses[code]} | ${doc} |`),
  )
}

function requestErrorRows(): readonly string[] {
  const text = readFileSync(new URL('src/base/request-errors.ts', root), 'utf8')
  return documented(text, 'export const requestErrors').flatMap(({ names, doc }) =>
    names.map(code => {
      const { status, version10 } = requestErrors[code as RequestErrorCode]
      return `| \`${code}\` | \`${version10}\` | ${status} | ${doc} |`
    }),
  )
}

function errorsPage(): string {
  return [
    '# Errors',
    '',
    'This page lists the errors of queries of version 4, and the errors of whole requests in all languages. Programs should',
    'branch on `code`, and if needed on `position`; descriptions are for people. Generated from `src/fql4/query-errors.ts` and',
    '`src/base/request-errors.ts` by `npm run generate`.',
    '',
    '## Errors in a query',
    '',
    '```json',
    '{"errors": [{"position": ["create"], "code": "permission denied", "description": "…"}]}',
    '```',
    '',
    '`position` leads to the part of the query that failed: object keys and array indexes from its root. A',
    '`validation failed` also has `failures`, each with `field`, `code` and `description`; a `call error` has `cause`, the',
    'errors inside the function. A query may fail in several places at once. The status is that of the first error of the',
    'highest rank: errors of parsing come before `invalid argument`, then `permission denied`, then all others.',
    '',
    '| code | status | meaning |',
    '|---|---|---|',
    ...errorRows('src/fql4/query-errors.ts', 'queryErrorStatus', queryErrorStatus),
    '',
    'Two errors of code `instance not found` have status 400: an index that is not active yet, and a secret that belongs to',
    'no key.',
    '',
    '## Errors of a request as a whole',
    '',
    '```json',
    '{"errors": [{"code": "unauthorized", "description": "Unauthorized"}]}',
    '```',
    '',
    'They have no position. The body depends on the family of the endpoint, not on the error:',
    '',
    '| endpoints | body |',
    '|---|---|',
    '| version 4: `/`, `/linearized`, `/stream` and others; under `/api/`, only `explain`, `_size` and `_position` | `{"errors": [{"code", "description"}]}` |',
    '| other paths under `/api/`, except `check` | `{"message", "code", "reason"}` |',
    '| version 10: `/query/1`, `/feed/1`, `/stream/1`, `/api/v1/check` | `{"error": {"code", "message"}}` |',
    '| `/schema/1` | `{"error": {"message"}}` |',
    '| `/environment/1` | `{"code", "message"}` |',
    '| `/graphql` | `{"errors": [{"message", "extensions": {"code"}}]}`; an invalid credential has the status 200 and no code |',
    '| `/import` | the description as plain text |',
    '',
    '| code | code in version 10 | status | meaning |',
    '|---|---|---|---|',
    ...requestErrorRows(),
    '',
  ].join('\n')
}

/** Functions that generate the pages, by path. */
export const tablePages: Readonly<Record<string, () => string>> = {
  'docs/reference/limits.md': limitsPage,
  'docs/reference/errors.md': errorsPage,
}
