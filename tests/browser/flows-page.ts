// The script of the page in which the flows of the client run.

import { Client } from '../../client/src/index.ts'
import { flows } from '../client/app-flows.ts'
import type { Flow, FlowConfig } from '../client/flows.ts'

/** What tests call in the page. */
declare global {
  var runFlow: (name: string, config: FlowConfig) => Promise<string>
}

globalThis.runFlow = async (name, config) => {
  const { run } = flows[name] as Flow
  return JSON.stringify(await run(new Client(config), config))
}
