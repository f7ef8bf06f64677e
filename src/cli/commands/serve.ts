// `terrarium serve`: runs the service until it is told to stop.

import { type SettingName, settings } from '../../app/config/settings.ts'
import { command } from '../command.ts'

/** Serves a data directory, or a copy of a shared store. */
export const serveCommand = command({
  name: 'serve',
  summary: 'Serves the database until SIGTERM or SIGINT, then finishes the requests in flight.',
  description: [
    'Standard output gets one line, with the address, when the service is ready; everything else is log lines on ' +
      'standard error.',
  ],
  // The table's own keys.
  settings: Object.keys(settings) as SettingName[],
  examples: [['serve --port 8443 --data ./data', 'Serve the folder ./data, which is created if missing:']],
  run: async ({ config }) => (await import('../actions/serve.ts')).serve(config),
})
