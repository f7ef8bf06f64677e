// What `--help` prints, made from the table of settings.

import { flagOf, type Setting, type SettingName, settings, variableOf } from '../config.ts'
import type { Command } from './command.ts'

const columns = 100

/** The overview of all commands. */
export function programHelp(commands: Readonly<Record<string, Command>>): string {
  const width = Math.max(...Object.keys(commands).map(name => name.length))
  const list = Object.entries(commands).map(([name, { doc }]) => `  ${name.padEnd(width)}  ${doc}`)
  return [
    'Usage: terrarium [COMMAND] [FLAGS]',
    '',
    'A self-hosted document database that answers version 4 of the FQL query language.',
    '',
    'Commands (without one: serve):',
    ...list,
    '',
    'terrarium COMMAND --help explains the flags of a command.',
    '',
  ].join('\n')
}

/** One command with each of its settings. */
export function commandHelp(name: string, command: Command): string {
  return [
    ...usageOf(command).map(words => `Usage: terrarium ${name} ${words}`),
    '',
    ...wrap(command.doc, 0),
    '',
    'Every setting can be given as a flag, as an environment variable, or as a key of a JSON file named by',
    '--config FILE (or TERRARIUM_CONFIG). Flags win over the environment, the environment over the file.',
    '',
    ...command.settings.flatMap(describe),
  ].join('\n')
}

function usageOf({ usage, parameter }: Command): readonly string[] {
  return usage ?? [parameter ? `${parameter} [FLAGS]` : '[FLAGS]']
}

function describe(name: SettingName): string[] {
  const setting: Setting = settings[name]
  const flag = setting.placeholder ? `--${flagOf(name)} ${setting.placeholder}` : `--${flagOf(name)}`
  const choices = setting.kind === 'choice' ? ` One of ${setting.choices.join(', ')}.` : ''
  const initial = setting.default === undefined ? 'none' : String(setting.default)
  return [
    `  ${flag}`,
    ...wrap(setting.doc + choices, 6),
    `      Environment: ${variableOf(name)}. File: ${name}. Default: ${initial}.`,
    '',
  ]
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
