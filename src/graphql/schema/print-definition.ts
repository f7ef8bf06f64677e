// Prints a schema as the text that an import reads.

import {
  type ArgumentDefinition,
  type DirectiveUse,
  type FieldDefinition,
  type ObjectDefinition,
  type SchemaDefinition,
  typeText,
} from './definitions.ts'

export function printDefinition({ enums, inputs, mutations, objects, queries }: SchemaDefinition): string {
  const blocks = [
    ...objects.map(printObject),
    ...inputs.map(({ description, fields, name }) =>
      block('input', name, description, fields.map(printArgument)),
    ),
    ...enums.map(({ description, name, values }) => {
      const lines = values.map(value => withDescription(value.description, value.name))
      return block('enum', name, description, lines)
    }),
    ...(queries.length > 0 ? [block('type', 'Query', undefined, queries.map(printField))] : []),
    ...(mutations.length > 0 ? [block('type', 'Mutation', undefined, mutations.map(printField))] : []),
  ]
  return `${blocks.join('\n\n')}\n`
}

function printObject({ description, directives, fields, name }: ObjectDefinition): string {
  return block('type', `${name}${printDirectives(directives)}`, description, fields.map(printField))
}

function block(
  kind: string,
  head: string,
  description: string | undefined,
  lines: readonly string[],
): string {
  const body = lines.length === 0 ? '{}' : `{\n${lines.map(line => indented(line)).join('\n')}\n}`
  return withDescription(description, `${kind} ${head} ${body}`)
}

function indented(text: string): string {
  return text
    .split('\n')
    .map(line => `  ${line}`)
    .join('\n')
}

function withDescription(description: string | undefined, text: string): string {
  return description === undefined ? text : `${JSON.stringify(description)}\n${text}`
}

function printField({ arguments: given, description, directives, name, type }: FieldDefinition): string {
  const list = given.length === 0 ? '' : `(${given.map(inlineArgument).join(', ')})`
  return withDescription(description, `${name}${list}: ${typeText(type)}${printDirectives(directives)}`)
}

function inlineArgument(argument: ArgumentDefinition): string {
  const { description } = argument
  const text = argumentText(argument)
  return description === undefined ? text : `${JSON.stringify(description)} ${text}`
}

function printArgument(argument: ArgumentDefinition): string {
  return withDescription(argument.description, argumentText(argument))
}

function argumentText({ defaultValue, name, type }: ArgumentDefinition): string {
  return `${name}: ${typeText(type)}${defaultValue === undefined ? '' : ` = ${defaultValue}`}`
}

function printDirectives(directives: readonly DirectiveUse[]): string {
  return directives.map(({ args, name }) => ` @${name}${printArguments(args)}`).join('')
}

function printArguments(args: DirectiveUse['args']): string {
  const entries = Object.entries(args)
  return entries.length === 0
    ? ''
    : `(${entries.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')})`
}
