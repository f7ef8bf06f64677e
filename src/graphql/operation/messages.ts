// Converts the errors of the library to the texts of the hosted service, which used another library. Applications match
// these texts. Each text ends with the position of the error, and the line of the document with a mark under the column.

import type { GraphQLError, GraphQLSchema } from 'graphql'
import type { ErrorEntry } from '../errors.ts'

interface Location {
  readonly line: number
  readonly column: number
}

/** Maximum number of characters of a line of the document that a text shows. */
const lineCharsMax = 300

/** The lines of a document. The document is split once, however many errors it has. */
export class DocumentLines {
  readonly #text: string
  #lines: readonly string[] | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Returns a line; the first line has the number 1. */
  at(line: number): string {
    this.#lines ??= this.#text.split(/\r\n|[\n\r]/)
    return this.#lines[line - 1] ?? ''
  }
}

/** Returns the positions in a document, followed by the line with a mark under the column. */
export function describeLocation(locations: readonly Location[], lines: DocumentLines): string {
  if (locations.length === 0) return ''
  const positions = locations.map(({ column, line }) => `(line ${line}, column ${column})`).join(', ')
  const drawings = locations.map(({ column, line }) => {
    const source = lines.at(line)
    return source.length > lineCharsMax ? '' : `${source}\n${' '.repeat(Math.max(0, column - 1))}^`
  })
  return ` ${positions}:\n${drawings.filter(drawing => drawing !== '').join('\n')}`
}

/** Maximum number of characters at each end of a message of the library. */
const messageCharsMax = 1000

/**
 * Shortens a message of the library in the middle. Such a message contains whole values and tokens of the client, and the
 * patterns in this file may take time in proportion to the square of its length.
 */
function shortened(message: string): string {
  if (message.length <= 2 * messageCharsMax) return message
  return `${message.slice(0, messageCharsMax)}…${message.slice(-messageCharsMax)}`
}

/** `what`: the kind of the document. */
export function describeSyntaxError(error: GraphQLError, lines: DocumentLines, what: string): string {
  const [location] = error.locations ?? []
  const reason = shortened(error.message).replace(/^Syntax Error: /, '')
  const found = reason.match(/^Expected (.*), found (.*)\.$/)
  const described = found ? `Invalid input ${found[2]}, expected ${found[1]}` : reason.replace(/\.$/, '')
  return `Syntax error while parsing GraphQL ${what}. ${described}${describeLocation(location ? [location] : [], lines)}`
}

/** Returns the entry of a response for an error of validation. */
export function validationEntry(
  error: GraphQLError,
  lines: DocumentLines,
  schema: GraphQLSchema,
): ErrorEntry {
  return entryOf(error, translate(shortened(error.message), schema), lines)
}

function entryOf({ locations = [] }: GraphQLError, text: string, lines: DocumentLines): ErrorEntry {
  return {
    message: text + describeLocation(locations, lines),
    locations: locations.map(({ column, line }) => ({ line, column })),
  }
}

type Rule = readonly [RegExp, (parts: readonly string[], schema: GraphQLSchema) => string]

const rules: readonly Rule[] = [
  [
    /^Cannot query field "(.*?)" on type "(.*?)"\.(.*)$/s,
    ([name, type, rest = '']) => `Cannot query field '${name}' on type '${type}'.${suggestion(rest)}`,
  ],
  [
    /^Unknown argument "(.*?)" on field "(\w+)\.(\w+)"\.(.*)$/s,
    ([argument, type, field, rest = '']) =>
      `Unknown argument '${argument}' on field '${field}' of type '${type}'.${suggestion(rest)}`,
  ],
  [
    /^Field "(.*?)" argument "(.*?)" of type "(.*?)" is required, but it was not provided\.$/,
    ([field, argument, type]) =>
      `Field '${field}' argument '${argument}' of type '${type}' is required but not provided.`,
  ],
  [
    /^Field "(.*?)" of type "(.*?)" must have a selection of subfields\./s,
    ([field, type]) => `Field '${field}' of type '${type}' must have a sub selection.`,
  ],
  [
    /^Field "(.*?)" must not have a selection since type "(.*?)" has no subfields\.$/,
    ([field, type]) => `Field '${field}' of type '${type}' must not have a sub selection.`,
  ],
  [
    /^(?:Value )?"?(.*?)"? does not exist in "(.*?)" enum\./s,
    ([value = '', name = ''], schema) =>
      `Expected type '${name}', found '${value}'. ${undefinedValue(value, name, schema)}`,
  ],
  [
    /^Enum "(.*?)" cannot represent non-enum value: (.*?)\.( Did you mean.*)?$/s,
    ([name, value]) => `Expected type '${name}', found '${value}'. Enum value expected`,
  ],
  [
    /^(\w+) cannot represent (?:a )?non[ -].*?: (.*)$/s,
    ([type, value]) => `Expected type '${type}', found '${value}'. ${type} value expected`,
  ],
  [/^(\w+) value expected$/, ([type]) => `Expected type '${type}'. ${type} value expected`],
  [
    /^Expected value of type "(.*?)", found (.*?)\.$/s,
    ([type, value]) => `Expected type '${type}', found '${value}'.`,
  ],
  [
    /^Expected value of type "(.*?)", found (.*?); (.*)$/s,
    ([type, value, reason]) => `Expected type '${type}', found '${value}'. ${reason}`,
  ],
  [
    /^Variable "(\$.*?)" is never used in operation "(.*?)"\.$/,
    ([variable, operation]) => `Variable '${variable}' is not used in operation ${operation}.`,
  ],
  [/^Variable "(\$.*?)" is never used\.$/, ([variable]) => `Variable '${variable}' is not used.`],
  [/^Fragment "(.*?)" is never used\.$/, ([name]) => `Fragment '${name}' is not used.`],
  [/^Unknown directive "@(.*?)"\.$/, ([name]) => `Unknown directive '${name}'.`],
]

function translate(message: string, schema: GraphQLSchema): string {
  for (const [pattern, render] of rules) {
    const found = message.match(pattern)
    if (found) return render(found.slice(1), schema)
  }
  return message.replaceAll('"', "'")
}

/** Converts `Did you mean "a", "b", or "c"?`. */
function suggestion(text: string): string {
  return text.replaceAll(', or ', ' or ').replaceAll('"', "'")
}

function undefinedValue(value: string, name: string, schema: GraphQLSchema): string {
  const type = schema.getType(name)
  const known = type !== undefined && 'getValues' in type ? type.getValues().map(each => each.name) : []
  return `Enum value '${value}' is undefined in enum type '${name}'. Known values are: ${known.join(', ')}.`
}

interface GivenVariables {
  readonly values: Readonly<Record<string, unknown>>
  readonly types: ReadonlyMap<string, string>
  readonly schema: GraphQLSchema
}

/** Returns the entry of a response for an invalid value of a variable. */
export function variableEntry(error: GraphQLError, lines: DocumentLines, given: GivenVariables): ErrorEntry {
  return entryOf(error, describeVariable(shortened(error.message), given), lines)
}

/** Maximum number of characters of a value in a text. */
const valueCharsMax = 1000

function describeVariable(message: string, { schema, types, values }: GivenVariables): string {
  const missing = message.match(/^Variable "\$(\w+)" of required type "(.*?)" was not provided\.$/)
  if (missing)
    return `Variable '$${missing[1]}' expected value of type '${missing[2]}' but value is undefined.`
  const empty = message.match(/^Variable "\$(\w+)" of non-null type "(.*?)" must not be null\.$/)
  if (empty) return `Variable '$${empty[1]}' expected value of type '${empty[2]}' but got: null.`
  const invalid = message.match(/^Variable "\$(\w+)" got invalid value .*?; (.*)$/s)
  if (!invalid) return suggestion(message)
  const [, name = '', reason = ''] = invalid
  const shown = JSON.stringify(values[name], (_, each) => (typeof each === 'bigint' ? String(each) : each))
  const value = shown.length > valueCharsMax ? `${shown.slice(0, valueCharsMax)}…` : shown
  return `Variable '$${name}' expected value of type '${types.get(name)}' but got: ${value}. Reason: ${reasonOf(translate(reason, schema))}`
}

/** Returns the reason in the text of an invalid value. The text of a variable contains the value already. */
function reasonOf(text: string): string {
  return text.match(/^Expected type '.*?'(?:, found '.*?')?\. (.+)$/s)?.[1] ?? text
}
