// Builds the dashboard. File names under `assets/` have hashes. The content security policy of the service forbids
// inline code, so the build inlines nothing.

import { fileURLToPath } from 'node:url'

// biome-ignore lint/style/noDefaultExport: Vite reads its configuration from the default export.
export default {
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/dashboard/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // The reader of `terrarium import` also runs in the browser, with the browser build of its CSV library.
  resolve: { alias: { 'csv-parse': 'csv-parse/browser/esm' } },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The licences of the bundled packages must be distributed with them.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
}
