// Commands on a whole data directory. `backup` and `restore` copy it; with `--from TARGET`, `restore` and `backup
// verify` use a continuous backup. `migrate` moves the data to a database that several machines share, or back.

import { resolve } from 'node:path'
import { backupFault } from '../../app/config/faults.ts'
import { UsageError } from '../../app/config/read-config.ts'
import { type Command, command } from '../command.ts'
import { timeFault, timeOf } from '../time-argument.ts'

const atOption = {
  kind: 'string',
  placeholder: 'TIME',
  check: timeFault,
  doc: 'The moment, such as 2026-01-31T12:00:00Z, or a transaction time in microseconds. Default: the newest state.',
} as const

const fromOption = {
  kind: 'string',
  placeholder: 'TARGET',
  check: backupFault,
  doc: 'The target of a continuous backup: what --backup-to of the service names.',
} as const

function report(done: string, { bytes, time }: { readonly bytes: number; readonly time: number }): number {
  process.stdout.write(`${done} ${bytes} bytes as of transaction time ${time}\n`)
  return 0
}

export const dataDirectoryCommands: readonly Command[] = [
  // Checks that index entries match the documents, histories are in order, and the change log is complete.
  command({
    name: 'check',
    summary: 'Checks the integrity of a data directory, or of a shared store.',
    description: [
      "For a store that several machines share, it copies the record to the data directory temporarily, checks the copy, and compares it with this node's replica. The node may be running.",
    ],
    settings: ['data', 'store', 'storeSchema', 'logLevel'],
    statuses: [
      [0, 'The data directory is sound.'],
      [1, 'The check found errors, each a line of standard output, or could not run.'],
    ],
    run: async ({ config }) => (await import('../actions/check.ts')).check(config),
  }),
  command({
    name: 'backup',
    summary: 'Copies all data, as of one transaction, to a new folder; the service may keep running.',
    operands: [{ name: 'FOLDER', doc: 'New or empty folder for the backup.' }],
    settings: ['data', 'store', 'storeSchema'],
    async run({ operands: [folder = ''], config }) {
      const { backUp } = await import('../backup-folder.ts')
      return report('backed up', await backUp(config, resolve(folder)))
    },
  }),
  command({
    name: 'backup verify',
    summary: 'Restores a continuous backup to a temporary folder and checks its integrity.',
    description: [
      'The folder is in the directory for temporary files (TMPDIR), needs as much room as the data, and is removed at the end.',
    ],
    operands: [{ name: 'TARGET', doc: 'The target, if --from does not name it.', optional: true }],
    options: { from: fromOption, at: atOption },
    settings: ['logLevel'],
    statuses: [
      [1, 'The backup cannot be restored, or the check found errors, each a line of standard output.'],
    ],
    async run({ operands: [target], options: { at, from }, config }) {
      if ((target === undefined) === (from === undefined))
        throw new UsageError('backup verify needs the target of a continuous backup: --from TARGET')
      const { verify } = await import('../backup-folder.ts')
      return verify((from ?? target) as string, at === undefined ? undefined : timeOf(at), config)
    },
  }),
  command({
    name: 'restore',
    summary: 'Copies a backup to a new or empty data directory or shared store.',
    description: [
      'With --from it restores a continuous backup as of any moment, then checks the integrity of the data directory. The restored ' +
        'store has a new identity: cursors and event sources of version 10 that clients still have fail with their ordinary errors.',
    ],
    operands: [{ name: 'FOLDER', doc: 'The backup, without --from.', optional: true }],
    options: { from: fromOption, at: atOption },
    settings: ['data', 'store', 'storeSchema'],
    examples: [
      [
        'restore --from s3://backups/shop --at 2026-01-31T12:00:00Z --data ./restored',
        'The state at noon, in a new data directory:',
      ],
    ],
    async run({ operands: [folder], options: { at, from }, config }) {
      if ((folder === undefined) === (from === undefined))
        throw new UsageError('restore takes either the folder of a backup or --from')
      if (at !== undefined && from === undefined) throw new UsageError('--at needs --from')
      const { restore, restoreFrom } = await import('../backup-folder.ts')
      if (folder !== undefined) return report('restored', await restore(resolve(folder), config))
      report('restored', await restoreFrom(from as string, at === undefined ? undefined : timeOf(at), config))
      return (await import('../actions/check.ts')).check(config)
    },
  }),
  command({
    name: 'migrate',
    summary: 'Moves the data of a data directory to a database that several machines share, or back.',
    description: [
      'The service on the data directory must be stopped. To continue an interrupted migration, in either direction, run the command again; until a migration to the database is complete, no node starts on it. The data directory stays unchanged.',
    ],
    options: {
      back: {
        kind: 'switch',
        doc: 'Copies from the database to the data directory, which must be new or empty. Nodes may keep running, but their later writes are not copied.',
      },
    },
    settings: ['data', 'store', 'storeSchema', 'logLevel'],
    examples: [
      [
        'migrate --data ./data --store postgres://terrarium@db.example/terrarium',
        'Moves the data of ./data to the database:',
      ],
    ],
    run: async ({ config, options: { back } }) =>
      (await import('../actions/migrate.ts')).migrate(config, back),
  }),
]
