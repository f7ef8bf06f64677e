// Makes docs/reference/cli.md from the table of commands.

import { flagOf } from '../src/app/config/read-config.ts'
import type { Command } from '../src/cli/command.ts'
import { flagText, optionText, statusesOf, synopsis } from '../src/cli/help.ts'
import { commands } from '../src/cli/table.ts'

function entry(command: Command): string {
  const { description, examples, name, operands, options, settings, summary } = command
  const flags = settings.map(each => `\`--${flagOf(each)}\``).join(', ')
  const isServe = name === 'serve'
  const settingsLine = isServe ? 'Settings: all.' : flags && `Settings: ${flags}, \`--config\`.`
  const rows = [
    ...operands.map(each => [each.name, each.doc]),
    ...Object.entries(options).map(([name, option]) => [flagText(name, option), optionText(name, option)]),
  ]
  return [
    `## ${name}`,
    summary,
    `    ${synopsis(command)}`,
    ...description,
    rows.length > 0 &&
      [
        '| argument | meaning |',
        '|---|---|',
        // A bar ends a cell, also in code.
        ...rows.map(([left = '', right]) => `| \`${left.replaceAll('|', '\\|')}\` | ${right} |`),
      ].join('\n'),
    settingsLine,
    command.statuses.length > 0 &&
      `Exit status: ${statusesOf(command)
        .map(([status, meaning]) => `**${status}** ${meaning}`)
        .join(' ')}`,
    ...examples.map(([line, meaning]) => `${meaning}\n\n    terrarium ${line}`),
  ]
    .filter(Boolean)
    .join('\n\n')
}

export function cliReference(): string {
  return [
    '# The command line',
    '',
    'This page is generated from the commands (`npm run generate`). `terrarium COMMAND --help` prints the same text, with',
    'the settings in full. Where this page writes `terrarium`, type `npx terrarium-db` in a clone of the repository, and in an',
    'app in which you have installed the package.',
    '',
    'Settings are flags, environment variables, or keys of the JSON file that `--config` names. [Running',
    'Terrarium](../operations.md#settings) describes all settings. The value of a flag is the next word, or follows `=`. Words',
    'after `--` are not flags. Exit statuses are 0 for success, 1 for a failure (standard error has the reason), and 2 for an',
    'invalid command line. Commands with other meanings or further statuses list all of them.',
    '',
  ]
    .join('\n')
    .concat('\n', commands.map(entry).join('\n\n'), '\n')
}
