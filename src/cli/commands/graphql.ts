// The command for GraphQL schemas: `terrarium graphql import FILE`.

import { importModes } from '../../graphql/wire/import-options.ts'
import { clientOptions } from '../client/options.ts'
import { type Command, command } from '../command.ts'

export const graphqlCommands: readonly Command[] = [
  command({
    name: 'graphql import',
    summary:
      'Imports a GraphQL schema: creates collections, indexes and functions, and the GraphQL API over them.',
    description: [
      'The modes are those of the hosted service. merge creates what is missing, and keeps what earlier imports have created. ' +
        'replace also removes types and fields that are not in the file from the API, but keeps all data. override deletes all ' +
        'collections, indexes and functions of earlier imports with their documents before the import.',
      'An index or function that exists already is used, if an index has the needed terms.',
    ],
    operands: [{ name: 'FILE', doc: 'A file with the schema, or - for standard input.' }],
    options: {
      mode: {
        kind: 'choice',
        choices: importModes,
        default: 'merge',
        doc: 'The mode of the import.',
      },
      yes: {
        kind: 'switch',
        short: 'y',
        doc: 'Deletes documents with --mode override without confirmation.',
      },
      ...clientOptions,
    },
    settings: ['data'],
    statuses: [[1, 'The service rejected the schema and nothing was changed, or the user declined.']],
    examples: [['graphql import schema.gql --database shop', 'Import a schema into the database shop:']],
    run: async ({ operands: [file = ''], options, config }) =>
      (await import('../actions/graphql.ts')).importSchema(file, options, config),
  }),
]
