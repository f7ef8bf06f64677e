// Types of `index.cjs`, the same as those of the package.

import type * as embedded from '../dist/types/app/index.js' with { 'resolution-mode': 'import' }

export declare const createServer: typeof embedded.createServer
export type EmbeddedOptions = embedded.EmbeddedOptions
export type EmbeddedServer = embedded.EmbeddedServer
