// The options of `npm run bench`.

import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { cases } from './cases.ts'

/** The cases that start servers of their own. */
export const standalone = [
  'workers',
  'streams',
  'recording',
  'neighbours',
  'languages',
  'typing',
  'graphql',
  'nodes',
  'start',
  'footprint',
  'hour',
  'pieces',
  'size',
  'databases',
  'cold',
  'wide',
  'dashboard',
  'log',
]

export const names = [...cases.map(({ name }) => name), ...standalone]

/** The cases that run only when they are named: they take long or need a large data directory. */
const onRequest = ['size', 'databases', 'cold', 'wide', 'dashboard', 'log']

export const { values: options } = parseArgs({
  options: {
    cases: {
      type: 'string',
      default: names.filter(name => !onRequest.includes(name)).join(','),
    },
    seconds: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    documents: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    scale: { type: 'string', default: '100000' },
    side: { type: 'string', default: '100000' },
    keep: { type: 'boolean', default: false },
    streams: { type: 'string', default: '5000' },
    databases: { type: 'string', default: '2000' },
    records: { type: 'string', default: '1000000' },
    'memory-mb': { type: 'string' },
    copied: { type: 'string', default: '1000000' },
    folder: { type: 'string', default: tmpdir() },
    processes: { type: 'string', default: '1' },
    rate: { type: 'string' },
    json: { type: 'string' },
    compare: { type: 'string' },
    kinds: { type: 'string' },
    'no-postgres': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

export const help = `npm run bench -- [options]

  --cases LIST        of ${cases.map(({ name }) => name).join(', ')}, workers, streams, recording,
                      neighbours, languages, graphql, typing, nodes, start, footprint, hour, pieces, size, databases,
                      cold, wide, dashboard, log (default: all but ${onRequest.join(', ')})
  --seconds N         measured time of each case (5), after --warmup N seconds (2)
  --connections N     keep-alive connections (32)
  --documents N       documents loaded before the cases run (10000)
  --scale N           documents of the cases "footprint" and "hour" (100000); for the case "size" a list, such as
                      10000,100000,1000000; the cases "cold" and "dashboard" load the first of them if --folder has no
                      data directory of the case "size"; for the case "wide" the versions of a document, and half of the entries with
                      equal terms
  --side N            documents that the case "size" imports, migrates, drops and lets expire, at most (100000)
  --keep              keeps the data directory of the case "size", "databases" or "log" below --folder; the next
                      run continues with it
  --databases N       databases of the case "databases" (2000)
  --records N         records of the case "log" (1000000)
  --memory-mb N       memory limit of the case "cold", which needs the right to create control groups (default: private
                      memory of the service and a tenth of the data)
  --minutes N         duration of the case "hour" (60)
  --streams N         event streams that the case "streams" opens (5000)
  --copied N          documents that a new node copies in the case "nodes" (1000000)
  --processes N       processes of each subject, which take turns; the figures are their medians (1); for the cases
                      "languages" and "graphql" at most 5
  --rate N            requests per second of the open loop, in which requests are sent whether or not earlier ones
                      have been answered (default: half of the closed loop's throughput)
  --json FILE         writes the results to a file
  --compare FILE      prints the changes since the run that wrote the file
  --folder DIR        folder for the data directories: choose a real disk (${tmpdir()})
  --kinds WORDS       runs only the queries of the case "neighbours", the kinds of the case "wide", or the actions of the
                      case "dashboard", whose names contain one of these words, separated by commas; all queries
                      take ten minutes
  --no-postgres       skips the Fastify + pg service`
