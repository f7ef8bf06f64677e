// `terrarium shell`: queries typed at a terminal.

import { clientOptions, languageOption } from '../client/options.ts'
import { command } from '../command.ts'

/** The interactive shell. */
export const shellCommand = command({
  name: 'shell',
  summary: 'Opens a shell for queries.',
  description: [
    'Queries are written as drivers write them and may take several lines. Tab completes functions and, in quotes, the ' +
      "names of the database's objects; .help lists the shell's own commands. Ctrl-C cancels the query that runs.",
    'What was typed is kept in $XDG_STATE_HOME/terrarium/history (by default below ~/.local/state), except entries ' +
      'that hold the words password or secret or begin with a blank.',
  ],
  options: {
    json: { kind: 'switch', doc: 'Results as JSON instead of text.' },
    ...languageOption,
    ...clientOptions,
  },
  settings: ['data'],
  examples: [
    ['shell', 'On the folder ./data, which may be served or not:'],
    [
      'shell --url https://db.example.org --database shop --as client',
      'As a client of a database elsewhere:',
    ],
  ],
  run: async ({ options, config }) => (await import('../actions/shell.ts')).openShell(options, config),
})
