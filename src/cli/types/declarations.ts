// TypeScript declarations of a schema: for each collection its documents, what creates and changes one, and the terms of its
// indexes; for each function its signature. They are types alone, so nothing of them is left when a program runs.

import type { CollectionItem, FunctionItem, IndexPath, SchemaItem } from '../../fql10/schema/fsl/nodes.ts'
import { ofKind } from '../../fql10/schema/fsl/nodes.ts'
import type { Node, TypeNode } from '../../fql10/syntax/nodes.ts'
import {
  anyText,
  indexSignature,
  type Property,
  property,
  propertyName,
  propertyText,
  type TypeNames,
  typeText,
} from './type-text.ts'
import type { ValueClasses } from './value-classes.ts'

/** Types of the language that the declarations use. */
const languageTypes = ['ArrayBuffer', 'Date', 'Record', 'Uint8Array']

/** The names of the declarations of a collection. */
interface CollectionNames {
  readonly fields: string
  readonly document: string
  readonly created: string
  readonly changes: string
  readonly indexes: string
}

/** The declarations of the items of a schema, as the text of a module. */
export function declarationsOf(items: readonly SchemaItem[], classes: ValueClasses): string {
  const collections = ofKind(items, 'collection')
  const functions = ofKind(items, 'function')
  const used = new Set<string>()
  const taken = new Set(['Collections', 'Functions', ...languageTypes, ...classNames(classes)])
  const byItem = new Map(collections.map(item => [item, namesOf(item.name.text, taken)]))
  const byName = new Map(
    [...byItem].flatMap(([item, { document }]) => callNames(item).map(name => [name, document] as const)),
  )
  const names: TypeNames = {
    classes,
    collectionType: name => byName.get(name),
    imported: name => {
      used.add(name)
      return name
    },
  }
  const parts = collections.map(item => collectionText(item, byItem.get(item) as CollectionNames, names))
  parts.push(collectionsText(byItem), functionsText(functions, names))
  const imports = [...used].sort().join(', ')
  const head = [
    '// Made by `terrarium types` from the schema; changes are overwritten. What has no type in the schema is `unknown`.',
    ...(imports === '' ? [] : ['', `import type { ${imports} } from '${classes.package}'`]),
  ]
  return `${[head.join('\n'), ...parts].join('\n\n')}\n`
}

function classNames(classes: ValueClasses): readonly string[] {
  const { reference, package: _package, takesReadonlyArrays: _arrays, ...names } = classes
  return [reference.name, ...Object.values(names).filter(name => name !== undefined)]
}

/** Names that nothing else has: those of version 4 may hold any character, or be those of a class. */
function namesOf(collection: string, taken: Set<string>): CollectionNames {
  const word = collection.replace(/[^\w$]/g, '_').replace(/^(?=\d)/, '_')
  for (let tail = ''; ; tail += '_') {
    const base = word + tail
    const names = {
      fields: `${base}Fields`,
      document: base,
      created: `New${base}`,
      changes: `${base}Changes`,
      indexes: `${base}Indexes`,
    }
    const all = Object.values(names)
    if (all.some(name => taken.has(name)) || reservedWords.has(base)) continue
    for (const name of all) taken.add(name)
    return names
  }
}

/** Words that cannot be the name of a type. */
const reservedWords: ReadonlySet<string> = new Set(
  (
    'any as async await bigint boolean break case catch class const continue debugger default delete do else enum export ' +
    'extends false finally for function if implements import in instanceof interface let never new null number object ' +
    'package private protected public return static string super switch symbol this throw true try type typeof undefined ' +
    'unknown var void while with yield'
  ).split(' '),
)

/** The names by which queries find an item. */
function callNames({ name, annotations }: CollectionItem | FunctionItem): readonly string[] {
  const alias = annotations.find(({ kind }) => kind === 'alias')
  return alias === undefined ? [name.text] : [name.text, alias.name.text]
}

function collectionText(item: CollectionItem, own: CollectionNames, names: TypeNames): string {
  const { classes, imported } = names
  const shown = comment(`\`${item.name.text}\``)
  const indexes = ofKind(item.members, 'index').map(({ name, members }) => {
    const terms = members.find(({ kind }) => kind === 'terms')?.paths ?? []
    return `  readonly ${propertyName(name.text)}: { readonly terms: ${termsText(item, terms, names)}; readonly document: ${own.document} }`
  })
  return [
    `/** The fields of documents of ${shown}. */`,
    block(own.fields, fieldLines(item, names)),
    '',
    `/** A document of ${shown}. */`,
    `export type ${own.document} = ${imported(classes.document)} & ${own.fields}`,
    '',
    `/** What \`create\` of ${shown} takes. */`,
    writtenText(own.created, item, false, names),
    '',
    `/** What \`update\` of a document of ${shown} takes: null removes a field. */`,
    writtenText(own.changes, item, true, names),
    '',
    `/** The indexes of ${shown}: the terms that they are called with, and what their sets hold. */`,
    block(own.indexes, indexes),
  ].join('\n')
}

const block = (name: string, lines: readonly string[]) =>
  lines.length === 0
    ? `export type ${name} = Record<never, never>`
    : [`export type ${name} = {`, ...lines, '}'].join('\n')

const comment = (text: string) => text.replaceAll('*/', '*\\/').replace(/\s+/g, ' ')

/** Whether documents may have fields that the collection does not name: with a wildcard, or without any field. */
function isOpen({ members }: CollectionItem): boolean {
  return !members.some(({ kind }) => kind === 'field') || members.some(({ kind }) => kind === 'wildcard')
}

function fieldLines(item: CollectionItem, names: TypeNames): readonly string[] {
  const lines: string[] = []
  const properties: Property[] = []
  const add = (note: string | undefined, own: Property) => {
    properties.push(own)
    lines.push(...(note === undefined ? [] : [note]), `  ${propertyText(own)}`)
  }
  for (const member of item.members) {
    if (member.kind === 'field') {
      const own = property(member.name.text, member.type, false, 'field', names)
      add(member.defaultValue && defaultNote(item, member.defaultValue), own)
    } else if (member.kind === 'computed') {
      const { name, type } = member
      // What is computed may be null, and is shown as such.
      const text = type ? typeText(type, 'field', names) : anyText(names)
      const own = { name: name.text, isOptional: false, types: [text] }
      add('  /** Computed when the document is read. */', own)
    }
  }
  if (isOpen(item)) lines.push(`  ${indexSignature([anyText(names)], properties)}`)
  return lines
}

/** What is written: for a new document, or for an update, in which every field may be absent. */
function writtenText(name: string, item: CollectionItem, isUpdate: boolean, names: TypeNames): string {
  const time = [names.imported(names.classes.time), 'Date', 'null']
  const ttl: Property = { name: 'ttl', isOptional: true, types: time }
  const properties = [ttl]
  const lines = ['  /** When the document expires. */', `  ${propertyText(ttl)}`]
  if (!isUpdate) {
    const id: Property = { name: 'id', isOptional: true, types: ['string'] }
    properties.push(id)
    lines.unshift(
      '  /** A number of up to 64 bits; made by the service when absent. */',
      `  ${propertyText(id)}`,
    )
  }
  for (const { defaultValue, name, type } of ofKind(item.members, 'field')) {
    const own = property(name.text, type, defaultValue !== undefined, 'input', names)
    properties.push(own)
    if (defaultValue) lines.push(defaultNote(item, defaultValue))
    lines.push(`  ${propertyText(isUpdate ? { ...own, isOptional: true } : own)}`)
  }
  const text = block(name, lines)
  if (!isOpen(item)) return text
  // Beside the fields, not among them: there the signature would have to take `undefined`, which no query may hold.
  const present = properties.map(each => ({ ...each, isOptional: false }))
  return `${text} & { ${indexSignature([anyText(names)], present)} }`
}

function defaultNote({ source }: CollectionItem, { start, end }: Node): string {
  return `  /** Default: \`${comment(source.text.slice(start, end))}\` */`
}

/** The types of the terms, by the paths that they are read at. */
function termsText(item: CollectionItem, paths: readonly IndexPath[], names: TypeNames): string {
  const labels = new Set<string>()
  const terms = paths.map(({ path, mva }) => {
    const type = typeAt(item, path)
    const element = mva && type?.kind === 'name' && type.name === 'Array' ? type.arguments[0] : type
    const base = path
      .map(String)
      .join('_')
      .replace(/[^\w$]/g, '_')
      .replace(/^(?=\d)|^$/, '_')
    let label = reservedWords.has(base) ? `${base}_` : base
    while (labels.has(label)) label += '_'
    labels.add(label)
    return `${label}: ${element ? typeText(element, 'input', names) : anyText(names)}`
  })
  return `readonly [${terms.join(', ')}]`
}

/** The type at a path; undefined where the collection does not say. */
function typeAt({ members }: CollectionItem, path: readonly (string | bigint)[]): TypeNode | undefined {
  const [first, ...steps] = path
  const member = members.find(
    each => (each.kind === 'field' || each.kind === 'computed') && each.name.text === first,
  )
  let type = member?.kind === 'field' || member?.kind === 'computed' ? member.type : undefined
  for (const step of steps) {
    const object = type?.kind === 'optional' ? type.inner : type
    type = object?.kind === 'object' ? object.members.find(({ name }) => name === step)?.type : undefined
  }
  return type
}

function collectionsText(byItem: ReadonlyMap<CollectionItem, CollectionNames>): string {
  const lines = [...byItem].flatMap(([item, { changes, created, document, indexes }]) =>
    callNames(item).map(
      name =>
        `  readonly ${propertyName(name)}: { readonly document: ${document}; readonly create: ${created}; readonly update: ${changes}; readonly indexes: ${indexes} }`,
    ),
  )
  return ['/** The collections by the names that queries use. */', block('Collections', lines)].join('\n')
}

function functionsText(functions: readonly FunctionItem[], names: TypeNames): string {
  const lines = functions.flatMap(item => {
    const parameters = item.parameters.map(({ isRest, name, type }, index) => {
      const text = type ? typeText(type, 'input', names) : anyText(names)
      const isName = /^[A-Za-z$][\w$]*$/.test(name.text) && !reservedWords.has(name.text)
      const label = isName ? name.text : `argument${index + 1}`
      return isRest ? `...${label}: readonly (${text})[]` : `${label}: ${text}`
    })
    const result = item.result ? typeText(item.result, 'result', names) : anyText(names)
    return callNames(item).map(name => `  ${propertyName(name)}(${parameters.join(', ')}): ${result}`)
  })
  return ['/** The functions by the names that queries use. */', block('Functions', lines)].join('\n')
}
