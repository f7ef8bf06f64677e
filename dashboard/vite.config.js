// How the dashboard is built: hashed file names under `assets/`, nothing inline, so that the strict content security
// policy of the service holds, and the code of editors and charts in files of their own.

import { fileURLToPath } from 'node:url'

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export.
export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/dashboard/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // What reads files for `terrarium import` reads them here, too; the library has a form of its own for browsers.
  resolve: { alias: { 'csv-parse': 'csv-parse/browser/esm' } },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The licences of what is bundled ask to be named with it.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
}
