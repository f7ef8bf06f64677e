// Commands that run queries: `eval` and `run` for scripts, `shell` for a terminal.

import { clientOptions, languageOption, runStatuses } from '../client/options.ts'
import { type Command, command } from '../command.ts'

const outputOptions = {
  json: { kind: 'switch', doc: 'Prints results and errors as JSON, one per line, instead of text.' },
  last: { kind: 'switch', doc: 'Prints only the result of the last expression.' },
} as const

const explainOption = {
  explain: {
    kind: 'switch',
    doc: 'Lists the reads of each query and the index that it lacks, instead of its result. Needs a secret with the role admin; nothing is written.',
  },
} as const

export const queryCommands: readonly Command[] = [
  command({
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
  }),
  command({
    name: 'eval',
    summary: 'Runs queries written on the command line.',
    description: [
      'Queries use the notation of the JavaScript driver: Get(Ref(Collection("users"), "1")). A text may contain ' +
        'several queries; each result is printed, and no query runs after a failed one.',
    ],
    operands: [{ name: 'EXPR', doc: 'The queries; - reads them from standard input.' }],
    options: { ...outputOptions, ...explainOption, ...languageOption, ...clientOptions },
    settings: ['data'],
    statuses: runStatuses,
    examples: [
      [`eval 'Paginate(Collections())'`, 'On the data directory ./data, whether it is served or not:'],
      [`eval --fql 10 'Collection.all().map(.name)'`, 'The same in version 10 of the language:'],
      [
        `eval --fql 10 --explain 'orders.where(.status == "open")'`,
        'List the reads of a query, and the index that it lacks:',
      ],
      [
        `eval --url https://db.example.org --json 'Now()'`,
        'On a remote service, with the secret in TERRARIUM_SECRET:',
      ],
    ],
    async run({ operands: [expr = ''], options, config }) {
      const { evaluate } = await import('../actions/eval.ts')
      return evaluate(expr, options, config)
    },
  }),
  command({
    name: 'run',
    summary: 'Runs the queries in a file.',
    description: ['The whole file is parsed before a query runs, so an invalid file changes nothing.'],
    operands: [{ name: 'FILE', doc: 'A file of queries, usually named .fql; - for standard input.' }],
    options: { ...outputOptions, ...languageOption, ...clientOptions },
    settings: ['data'],
    statuses: runStatuses,
    examples: [['run setup.fql --database shop', 'On a child database:']],
    async run({ operands: [file = ''], options, config }) {
      const { runFile } = await import('../actions/eval.ts')
      return runFile(file, { ...options, explain: false }, config)
    },
  }),
]
