// The script of the page that runs the flows of the client.

import { Client } from '../../client/src/index.ts'
import { flows } from '../client/app-flows.ts'
import type { Flow, FlowConfig } from '../client/flows.ts'

/** Runs a flow by its name. Tests call it in the page. */
declare global {
  var runFlow: (name: string, config: FlowConfig) => Promise<string>
}

globalThis.runFlow = async (name, config) => {
  const { run } = flows[name] as Flow
  return JSON.stringify(await run(new Client(config), config))
}
