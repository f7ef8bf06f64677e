// Generates the text of `--help` from the declarations of commands and settings, in the sections of a manual page.

import { flagOf, variableOf } from '../app/config/read-config.ts'
import { declaredDefaultOf, placeholderOf, type Setting, settings } from '../app/config/settings.ts'
import type { Command, Operand, Option } from './command.ts'

const columns = 100

export function programHelp(commands: readonly Command[]): string {
  return [
    'NAME',
    ...wrap('terrarium - a self-hosted document database that speaks versions 4 and 10 of FQL', 4),
    '',
    'SYNOPSIS',
    '    terrarium [COMMAND] [ARGUMENTS]',
    '    terrarium --help | --version',
    '',
    'COMMANDS',
    ...list(commands),
    '',
    ...wrap(
      'Flags without a command are flags of serve. Run `terrarium COMMAND --help` (or `terrarium --help COMMAND`) for the flags of a command.',
      0,
    ),
    '',
  ].join('\n')
}

/** Overview of commands that share their first word. */
export function groupHelp(word: string, commands: readonly Command[]): string {
  return [
    'SYNOPSIS',
    ...commands.map(each => `    ${synopsis(each)}`),
    '',
    'COMMANDS',
    ...list(commands),
    '',
    `Run \`terrarium ${word} COMMAND --help\` for the flags of a command.`,
    '',
  ].join('\n')
}

export function commandHelp(command: Command): string {
  const { description, operands, options, settings: names, examples } = command
  const hasFlags = Object.keys(options).length > 0
  return [
    'NAME',
    ...wrap(`terrarium ${command.name} - ${command.summary}`, 4),
    '',
    ...section('SYNOPSIS', [`    ${synopsis(command)}`, '']),
    ...section(
      'DESCRIPTION',
      description.flatMap(paragraph => [...wrap(paragraph, 4), '']),
    ),
    ...section(
      'ARGUMENTS',
      operands.flatMap(({ name, doc }) => [`    ${name}`, ...wrap(doc, 8), '']),
    ),
    ...section('OPTIONS', hasFlags ? Object.entries(options).flatMap(optionLines) : []),
    ...section('SETTINGS', names.length > 0 ? [...settingsIntro, ...names.flatMap(settingLines)] : []),
    ...section('EXIT STATUS', statusLines(command)),
    ...section(
      'EXAMPLES',
      examples.flatMap(([line, meaning]) => [...wrap(meaning, 4), `        terrarium ${line}`, '']),
    ),
  ].join('\n')
}

/** Returns a text such as `terrarium schema pull [OPTIONS] FOLDER`. */
export function synopsis({ name, operands, options, settings: names }: Command): string {
  const hasFlags = Object.keys(options).length + names.length > 0
  return ['terrarium', name, ...(hasFlags ? ['[OPTIONS]'] : []), ...operands.map(operandText)].join(' ')
}

export function statusesOf({ statuses }: Command): Command['statuses'] {
  const own = new Map(statuses)
  return [
    [0, own.get(0) ?? 'Success.'],
    [1, own.get(1) ?? 'Failure; standard error has the reason.'],
    [2, own.get(2) ?? 'The command line is invalid.'],
    ...statuses.filter(([status]) => status > 2),
  ]
}

/** Returns a text such as `-n, --name NAME`. */
export function flagText(name: string, option: Option): string {
  const short = option.short === undefined ? '' : `-${option.short}, `
  const placeholder = placeholderOf(name, option)
  return `${short}--${flagOf(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
}

export function optionText(name: string, option: Option): string {
  const variable = option.fromEnvironment ? [`Environment: ${variableOf(name)}.`] : []
  const repeated = option.multiple ? ['May be given several times.'] : []
  const showsDefault = option.default !== undefined && option.kind !== 'switch'
  const initial = showsDefault ? [`Default: ${option.default}.`] : []
  return [option.doc, ...choicesOf(option), ...repeated, ...variable, ...initial].join(' ')
}

function operandText({ name, optional, multiple }: Operand): string {
  const text = multiple ? `${name}…` : name
  return optional ? `[${text}]` : text
}

const settingsIntro = [
  ...wrap(
    'Each setting is a flag, an environment variable, and a key of the JSON file that --config FILE (or TERRARIUM_CONFIG) ' +
      'names. Flags override the environment, and the environment overrides the file.',
    4,
  ),
  '',
]

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines]
}

function list(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return commands.flatMap(({ name, summary }) => hanging(name, width + 2, summary))
}

function optionLines([name, option]: [string, Option]): string[] {
  return [`    ${flagText(name, option)}`, ...wrap(optionText(name, option), 8), '']
}

function settingLines(name: keyof typeof settings): string[] {
  const setting: Setting = settings[name]
  const initial = declaredDefaultOf(setting) ?? 'none'
  return [
    `    ${flagText(name, setting)}`,
    ...wrap([setting.doc, ...choicesOf(setting)].join(' '), 8),
    `        Environment: ${variableOf(name)}. File: ${name}. Default: ${initial}.`,
    '',
  ]
}

function choicesOf(setting: Setting): readonly string[] {
  return setting.kind === 'choice' ? [`Values: ${setting.choices.join(', ')}.`] : []
}

function statusLines(command: Command): string[] {
  return [...statusesOf(command).flatMap(([status, meaning]) => hanging(`${status}`, 4, meaning)), '']
}

/** Formats `text` to the right of `head`, with an indent of four columns. Pads `head` to `width` columns. */
function hanging(head: string, width: number, text: string): string[] {
  const [first = '', ...more] = wrap(text, width + 4)
  return [`    ${head.padEnd(width)}${first.trimStart()}`, ...more]
}

function wrap(text: string, indent: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > columns) {
      lines.push(' '.repeat(indent) + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push(' '.repeat(indent) + line)
  return lines
}
