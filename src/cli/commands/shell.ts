// `terrarium shell`: queries typed at a terminal.

import { clientOptions, connect } from '../client/connect.ts'
import { command } from '../command.ts'
import { addToHistory, historyFile, readHistory } from '../shell/history.ts'
import { runShell } from '../shell/shell.ts'
import { readQueryFile } from './eval.ts'

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
    json: { kind: 'switch', default: false, doc: 'Results as JSON instead of text.' },
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
  async run({ options, config }) {
    const { stdin, stdout } = process
    const connection = await connect(options, config)
    const file = historyFile()
    const isTerminal = stdin.isTTY === true && stdout.isTTY === true
    try {
      return await runShell({
        connection,
        input: stdin,
        output: stdout,
        isTerminal,
        asJson: options.json,
        history: isTerminal ? readHistory(file) : [],
        onEntry: entry => {
          if (isTerminal) addToHistory(file, entry)
        },
        readFile: readQueryFile,
      })
    } finally {
      await connection.close()
    }
  },
})
