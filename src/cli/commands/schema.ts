// Commands for the schema of a database: `schema pull` and `push` copy it to and from files, `schema check` lists type
// errors, `types` writes TypeScript declarations.

import { clientOptions, jsonOption } from '../client/options.ts'
import { type Command, command } from '../command.ts'
import { clientPackages } from '../types/value-classes.ts'

const folderOperand = {
  name: 'FOLDER',
  doc: 'A folder of .fql files, or of .fsl files of version 10.',
} as const

const planOptions = {
  dryRun: { kind: 'switch', doc: 'Lists the changes and makes none.' },
  yes: { kind: 'switch', short: 'y', doc: 'Makes the changes without confirmation.' },
} as const

/** Options of the commands that write declarations. */
export const typesOptions = {
  client: {
    kind: 'choice',
    choices: clientPackages,
    default: 'terrarium-client',
    doc: 'The client whose classes represent dates, references and other values without a type in JavaScript.',
  },
} as const

export const schemaCommands: readonly Command[] = [
  command({
    name: 'schema pull',
    summary: 'Writes the collections, indexes, functions, roles and access providers of a database to files.',
    description: [
      'Each object has a file of its own, such as indexes/users_by_email.fql with CreateIndex({…}). A file whose object ' +
        'is unchanged keeps its text and its comments. Files of objects that the database does not have are listed and kept. ' +
        'The command asks before it overwrites a file.',
      'If the folder has .fsl files, the schema files of the database are written instead, unchanged. If the folder has no schema files, ' +
        'they are written if the schema uses a feature of version 10. --fql overrides this choice.',
    ],
    operands: [folderOperand],
    options: {
      ...planOptions,
      fql: {
        kind: 'choice',
        choices: ['auto', '4', '10'],
        default: 'auto',
        doc: 'The version of the language: 4 writes .fql files, 10 writes .fsl files, auto chooses by the folder and the database.',
      },
      ...jsonOption,
      ...clientOptions,
    },
    settings: ['data'],
    examples: [
      ['schema pull schema --database shop', 'From the data directory ./data, whether it is served or not:'],
    ],
    run: async ({ operands: [folder = ''], options, config }) =>
      (await import('../actions/schema.ts')).pullSchema(folder, options, config),
  }),
  command({
    name: 'schema push',
    summary: 'Applies the schema files of a folder to a database.',
    description: [
      'Lists the changes and asks for confirmation. All changes are one transaction: either all apply or none. An index whose fields ' +
        'change is deleted and built again. Objects that are in no file stay, unless --delete is given.',
      'The folder may be one of the old schema-migrate tool: the files below fauna/resources are read, its migrations are not. ' +
        'Resources in JavaScript are parsed and never run; resources that would have to run are listed and skipped.',
      'If the folder has .fsl files, only these are pushed, and the service lists the changes. Objects that are in no file are ' +
        'listed and stay, in files of the database that the folder does not have, such as kept.fsl. A renamed collection is a new ' +
        'one, so the old one stays, too.',
    ],
    operands: [folderOperand],
    options: {
      ...planOptions,
      delete: {
        kind: 'switch',
        doc: 'Also deletes objects that are in no file, and collections with their documents.',
      },
      ...jsonOption,
      ...clientOptions,
    },
    settings: ['data'],
    statuses: [
      [1, 'A change failed and nothing was changed, or the user declined.'],
      [2, 'The command line or a file is invalid.'],
    ],
    examples: [
      ['schema push schema --database shop --dry-run', 'List the changes of a push to the database shop:'],
    ],
    run: async ({ operands: [folder = ''], options, config }) =>
      (await import('../actions/schema.ts')).pushSchema(folder, options, config),
  }),
  command({
    name: 'schema check',
    summary: 'Lists the type errors in the schema of a database, and changes nothing.',
    description: [
      'Checks functions, computed fields, checks, defaults, indexes, unique constraints and predicates, even if the database ' +
        'does not check types. The errors have positions in the schema files of the database, which schema pull writes. ' +
        'Predicates are checked if the other parts have no errors.',
    ],
    options: clientOptions,
    settings: ['data'],
    statuses: [[1, 'The schema has errors, or the service could not be reached.']],
    examples: [
      ['schema check --database shop', 'List the errors before you enable the check of the database shop:'],
    ],
    run: async ({ options, config }) => (await import('../actions/schema.ts')).checkSchema(options, config),
  }),
  command({
    name: 'types',
    summary:
      'Writes TypeScript declarations of a schema: documents, inputs of create and update, indexes, functions.',
    description: [
      'The schema comes from the .fsl files of a folder, or without a folder from a database of a service. For a ' +
        'collection Product there are Product (a document), NewProduct (the input of create), ProductChanges (the input of update) ' +
        'and ProductIndexes. Collections and Functions list all collections and functions by name. Fields without a type are ' +
        'unknown, and documents of collections without declared fields may have any fields.',
      'The results of functions and the types of computed fields are inferred if they have no declared type.',
      'Queries are not checked: a declaration only asserts the type of a result.',
    ],
    operands: [
      {
        name: 'FOLDER',
        doc: 'A folder of .fsl files; the command then sends no request to a service.',
        optional: true,
      },
    ],
    options: {
      out: {
        kind: 'path',
        placeholder: 'FILE',
        doc: 'Writes to a file if its content changes; by default to standard output.',
      },
      watch: {
        kind: 'switch',
        doc: 'Runs until it is stopped, and writes the file again after each change of the schema. Needs --out.',
      },
      ...typesOptions,
      ...clientOptions,
    },
    settings: ['data'],
    statuses: [
      [1, 'The service could not be reached, or a file cannot be written.'],
      [2, 'The command line or a schema file is invalid; nothing was written.'],
    ],
    examples: [
      ['types schema --out src/schema.ts', 'From the files of a folder:'],
      [
        'types --database shop --out src/schema.ts --watch',
        'From a database of ./data, after each change of its schema:',
      ],
    ],
    run: async ({ operands: [folder], options, config }) =>
      (await import('../actions/types.ts')).writeTypes(folder, options, config),
  }),
]
