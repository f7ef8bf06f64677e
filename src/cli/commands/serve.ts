// `terrarium serve`: runs the service until a signal stops it.

import { type SettingName, settings } from '../../app/config/settings.ts'
import { command } from '../command.ts'

/** Serves a data directory, or a replica of a shared store. */
export const serveCommand = command({
  name: 'serve',
  summary: 'Serves the database until SIGTERM or SIGINT, then finishes the requests in flight.',
  description: [
    'Standard output gets one line, with the address, when the service is ready; all other output is log lines on ' +
      'standard error.',
  ],
  // Safe: the names are the keys of the table itself.
  settings: Object.keys(settings) as SettingName[],
  examples: [
    ['serve --port 8443 --data ./data', 'Serves the data directory ./data, which is created if missing:'],
  ],
  run: async ({ config }) => (await import('../actions/serve.ts')).serve(config),
})
