// Connects the shell to a service, the terminal and the history file.

import type { Config } from '../../app/config/settings.ts'
import { connect } from '../client/connect.ts'
import { dialectOf } from '../client/dialects.ts'
import type { ClientChoice } from '../client/options.ts'
import { addToHistory, historyFile, readHistory } from '../shell/history.ts'
import { runShell } from '../shell/shell.ts'
import { readQueryFile } from './eval.ts'

/** Reads and runs queries until the user exits; resolves with the exit status. */
export async function openShell(
  choice: ClientChoice & { readonly json: boolean; readonly fql: string },
  config: Config,
): Promise<number> {
  const { stdin, stdout } = process
  const connection = await connect(choice, config)
  const file = historyFile()
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true
  try {
    return await runShell({
      connection,
      input: stdin,
      output: stdout,
      isTerminal,
      asJson: choice.json,
      dialect: await dialectOf(choice.fql),
      history: isTerminal ? readHistory(file) : [],
      onEntry: entry => {
        if (isTerminal) addToHistory(file, entry)
      },
      readFile: readQueryFile,
    })
  } finally {
    await connection.close()
  }
}
