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
        ...rows.map(([left, right]) => `| \`${left}\` | ${right} |`),
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
    'This page is generated from the commands (`npm run generate`); `terrarium COMMAND --help` prints the same, with',
    'the settings in full. In a clone of the repository the program is `npx terrarium-db`.',
    '',
    'Settings can be given as flags, as environment variables, or as keys of a JSON file named by `--config`; all of them',
    'are in [Running Terrarium](../operations.md#settings). Flags take their value as the next word or after `=`. Words',
    'after `--` are not flags. Exit statuses: 0 for success, 1 for a failure (standard error has the reason), 2 for an invalid',
    'command line. Other exit statuses are listed with their commands.',
    '',
  ]
    .join('\n')
    .replace('\n', '\n\n')
    .concat('\n', commands.map(entry).join('\n\n'), '\n')
}
