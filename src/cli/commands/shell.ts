// `terrarium shell`: interactive queries on a terminal.

import { clientOptions, languageOption } from '../client/options.ts'
import { command } from '../command.ts'

/** The interactive shell. */
export const shellCommand = command({
  name: 'shell',
  summary: 'Opens a shell for queries.',
  description: [
    'Queries use the notation of the JavaScript driver and may have several lines. Tab completes functions and, in quotes, the ' +
      "names of the database's objects; .help lists the shell's own commands. Ctrl-C cancels the running query.",
    'The history is stored in $XDG_STATE_HOME/terrarium/history (by default below ~/.local/state), except entries ' +
      'that contain the words password or secret or begin with a blank.',
  ],
  options: {
    json: { kind: 'switch', doc: 'Prints results as JSON instead of text.' },
    ...languageOption,
    ...clientOptions,
  },
  settings: ['data'],
  examples: [
    ['shell', 'On the data directory ./data, whether it is served or not:'],
    ['shell --url https://db.example.org --database shop --as client', 'As a client of a remote database:'],
  ],
  run: async ({ options, config }) => (await import('../actions/shell.ts')).openShell(options, config),
})
