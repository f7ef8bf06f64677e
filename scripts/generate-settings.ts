// Makes the table of settings in docs/operations.md from src/app/config/settings.ts.

import { flagOf, variableOf } from '../src/app/config/read-config.ts'
import { declaredDefaultOf, type Setting, settings } from '../src/app/config/settings.ts'

const begin = '<!-- settings: made by npm run generate -->'
const end = '<!-- end of settings -->'

function range(setting: Setting): string {
  switch (setting.kind) {
    case 'integer':
      return `${setting.min ?? 0} to ${setting.max}`
    case 'switch':
      return 'true, false (or 1, 0)'
    case 'choice':
      return setting.choices.join(', ')
    default:
      return setting.kind
  }
}

function row([name, setting]: [string, Setting]): string {
  const value = declaredDefaultOf(setting)
  const initial = value === undefined ? '–' : `\`${value}\``
  const names = `\`--${flagOf(name)}\`<br>\`${variableOf(name)}\``
  return `| ${names} | ${initial} | ${range(setting)} | ${setting.doc} |`
}

export function withSettings(text: string): string {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error('docs/operations.md has lost the marks around its settings')
  const table = [
    '| flag and variable | default | values | meaning |',
    '|---|---|---|---|',
    ...Object.entries<Setting>(settings).map(row),
  ]
  return `${text.slice(0, from)}${begin}\n\n${table.join('\n')}\n\n${text.slice(to)}`
}
