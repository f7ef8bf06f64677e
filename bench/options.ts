// What `npm run bench` can be asked for.

import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'

/** Everything that can be measured. */
export const names = [
  ...cases.map(({ name }) => name),
  'scale',
  'logins',
  'workers',
  'streams',
  'recording',
  'export',
  'neighbours',
  'languages',
  'dashboard',
  'nodes',
  'start',
  'footprint',
  'hour',
  'migration',
  'pieces',
]

/** Those that start servers of their own. */
export const standalone = [
  'workers',
  'streams',
  'recording',
  'export',
  'neighbours',
  'languages',
  'dashboard',
  'nodes',
  'start',
  'footprint',
  'hour',
  'migration',
  'pieces',
]

/** What was asked for. */
export const { values: options } = parseArgs({
  options: {
    cases: { type: 'string', default: names.join(',') },
    seconds: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    documents: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    scale: { type: 'string', default: '100000' },
    streams: { type: 'string', default: '5000' },
    copied: { type: 'string', default: '1000000' },
    records: { type: 'string', default: '1000000' },
    folder: { type: 'string', default: tmpdir() },
    rate: { type: 'string' },
    json: { type: 'string' },
    compare: { type: 'string' },
    kinds: { type: 'string' },
    'no-postgres': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** What `--help` prints. */
export const help = `npm run bench -- [options]

  --cases LIST        of ${cases.map(({ name }) => name).join(', ')}, scale, logins, workers, streams,
                      recording, export, neighbours, languages, dashboard, nodes, start, footprint, hour, migration,
                      pieces (default: all)
  --seconds N         measured time of each case (5), after --warmup N seconds (2)
  --connections N     keep-alive connections (32)
  --documents N       documents loaded before the cases run (10000)
  --scale N           documents of the cases "scale", which compares point reads, "footprint", "hour"
                      and "migration" (100000)
  --minutes N         that the case "hour" takes (60)
  --streams N         event streams that the case "streams" opens (5000)
  --copied N          documents that a new node copies in the case "nodes" (1000000)
  --records N         records of the query log that the case "export" exports (1000000)
  --rate N            requests per second of the open loop, in which requests are sent whether or not earlier ones
                      have been answered (half of what the closed loop reached)
  --json FILE         writes what was measured
  --compare FILE      prints what has changed since that file was written
  --folder DIR        where data directories are made: choose a real disk (${tmpdir()})
  --kinds WORDS       of the case "neighbours" the queries whose names contain one of these words, with commas between
                      them: all of them take ten minutes
  --no-postgres       leave the Fastify + pg service out`
