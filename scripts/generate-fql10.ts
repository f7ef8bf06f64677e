// Makes the documentation of version 10's library from its tables: docs/reference/fql10.md, and
// `src/fql10/text/library-table.ts` for completion.

import type { FieldDefinition, FunctionDefinition, Members, Signature } from '../src/fql10/library/entry.ts'
import { allTables, globals } from '../src/fql10/library/tables.ts'
import { librarySignature } from '../src/fql10/typing/annotations.ts'
import { schemeText } from '../src/fql10/typing/print.ts'
import { Module } from '../src/fql10/value.ts'

type Entry = FieldDefinition | FunctionDefinition

/** A table of the reference. */
interface Chapter {
  readonly title: string
  readonly intro: string
  /** Precedes the names in text, such as `Math.`. */
  readonly prefix: string
  readonly entries: readonly (readonly [written: string, entry: Entry])[]
}

/** Title and first sentence of tables that are not named after a type which users know. */
const namedTables: Readonly<Record<string, readonly [title: string, intro: string]>> = {
  '<collection>': ['Collections', 'Fields and functions of your collections, such as `Author`.'],
  CredentialDocument: ['Documents of Credential', 'Further fields and functions of every credential.'],
  Document: ['Documents', 'Further fields and functions of every document of your collections.'],
  KeyDocument: ['Documents of Key', 'Further fields and functions of every key.'],
  NamedDocument: [
    'Documents with names',
    'Further fields and functions of every document of Collection, Function, Role, AccessProvider and Database.',
  ],
  TokenDocument: ['Documents of Token', 'Further fields and functions of every token.'],
  UserFunction: ['Functions of yours', 'Fields and functions of your functions, such as `shout`.'],
}

function isModule(table: Members): boolean {
  const found = globals.get(table.name)
  return table.name.includes('.') || (found instanceof Module && found.members === table)
}

function chapterOf(table: Members): Chapter {
  const entries = [...table.entries].map(([name, entry]) => [name, entry] as const)
  if (table.name === 'globals') {
    return {
      title: 'Functions without a module',
      intro: 'Every query sees them by name.',
      prefix: '',
      entries,
    }
  }
  if (isModule(table)) {
    const own = entries.map(([name, entry]) => [`${table.name}.${name}`, entry] as const)
    const call = table.apply === undefined ? [] : [[table.name, table.apply] as const]
    const intro = `The module \`${table.name}\`.`
    return {
      title: `Module ${table.name}`,
      intro,
      prefix: `${table.name}.`,
      entries: [...call, ...own],
    }
  }
  const named = namedTables[table.name]
  const [title, intro] = named ?? [table.name, `Fields and functions of every ${table.name}.`]
  // Collections of users are called by their names.
  const call = table.apply === undefined ? [] : [['Author', table.apply] as const]
  return { title, intro, prefix: '.', entries: [...call, ...entries] }
}

/** Returns the chapters that have entries, in the order of the reference. */
function chapters(): readonly Chapter[] {
  const all = allTables.map(chapterOf).filter(({ entries }) => entries.length > 0)
  const rank = ({ prefix }: Chapter) => (prefix === '' ? 0 : prefix === '.' ? 1 : 2)
  return all.toSorted((a, b) => rank(a) - rank(b) || (a.title < b.title ? -1 : 1))
}

function callOf(written: string, { parameters, rest }: Signature): string {
  const named = parameters.map(([name, { type }]) => `${name}: ${type}`)
  const more = rest === undefined ? [] : [`${rest[0]}…: ${rest[1].type}`]
  return `${written}(${[...named, ...more].join(', ')})`
}

/** Returns the signatures in text, without the result. */
function signaturesOf(written: string, entry: Entry): readonly string[] {
  return entry.kind === 'field' ? [written] : entry.signatures.map(each => callOf(written, each))
}

/** The type of a field, or of the result of a function. */
function resultOf({ kind, type: text }: Entry): string {
  if (kind === 'field') return text
  const { type } = librarySignature(text)
  const signatures = type.kind === 'intersection' ? type.members : [type]
  const results = signatures.map(each => {
    const result = each.kind === 'function' ? each.result : each
    return schemeText({ parameters: [], type: result, text: '' })
  })
  return [...new Set(results)].join(' | ')
}

const effects = { pure: '', observation: '', read: ' It reads.', write: ' It writes.' }

function section(written: string, entry: Entry): string {
  const [query, answer] = entry.example
  const effect = entry.kind === 'field' ? '' : effects[entry.effect]
  return [
    `### ${written}`,
    '',
    ...signaturesOf(written, entry).map(each => `- \`${each}\` → \`${resultOf(entry)}\``),
    '',
    `${entry.summary}${effect}`,
    '',
    '```',
    answer === '…' ? query : `${query}\n→ ${answer}`,
    '```',
    '',
  ].join('\n')
}

function fql10Reference(): string {
  const all = chapters()
  const count = all.reduce((sum, { entries }) => sum + entries.length, 0)
  const intro = [
    '# The library of version 10',
    '',
    `All ${count} fields and functions of version 10 of the language. This page is generated from the code`,
    '(`npm run generate`), and the tests run every example that has a result; results are written as the format',
    '`decorated` writes them. The types of results are those of [type checks](../guides/types.md): `A` is the type of the',
    'elements, `B` any other type, and `Doc` the type of the documents of a collection. For the use of both versions in one database, see [Two languages, one database](../guides/two-languages.md).',
    '',
    ...all.map(
      ({ title }) =>
        `- [${title}](#${title
          .toLowerCase()
          .replace(/[^a-z0-9 ]/g, '')
          .replaceAll(' ', '-')})`,
    ),
    '',
  ].join('\n')
  const texts = all.map(({ title, intro: first, entries }) =>
    [`## ${title}`, '', first, '', ...entries.map(([written, entry]) => section(written, entry))].join('\n'),
  )
  return `${intro}\n${texts.join('\n')}`
}

function row({ prefix, title }: Chapter, [written, entry]: readonly [string, Entry]): string {
  const [first = ''] = signaturesOf(written, entry)
  const owner = prefix === '.' ? title : ''
  const cells = [owner, written, first.slice(written.length), resultOf(entry), entry.summary]
  return cells.join('\t').replace(/[\\`]|\$\{/g, '\\$&')
}

/** Returns the file with the table for completion. */
function libraryTableFile(): string {
  const rows = chapters().flatMap(chapter =>
    chapter.entries
      // Completion proposes the names of collections and functions themselves, so their calls have no row.
      .filter(([, { name }]) => chapter.prefix !== '.' || name !== 'apply')
      .map(entry => row(chapter, entry)),
  )
  return `// The names of the library of version 10, for completion. Generated by "npm run generate" from the library's
// tables: do not edit.
//
// Each line, with tabs between: type of value, name, arguments, result, meaning. The type is empty for functions and
// fields that are used by their names alone.

export const libraryTable: string = \`
${rows.join('\n')}
\`
`
}

/** Functions that generate the files, by path in the repository. */
export const fql10Files: Readonly<Record<string, () => string>> = {
  'docs/reference/fql10.md': fql10Reference,
  'src/fql10/text/library-table.ts': libraryTableFile,
}
