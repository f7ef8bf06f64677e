// The site of the documentation: the pages of the repository as they are, with search and dark mode. A link to a page or
// heading that does not exist fails the build.

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packageFile = path => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
const repository = fileURLToPath(new URL('../..', import.meta.url))

/** The items of a folder's pages in the menu, by the names of their files. */
function pagesIn(folder) {
  return readdirSync(`${repository}${folder}`)
    .filter(name => name.endsWith('.md') && name !== 'README.md')
    .map(name => ({ text: titleOf(name), link: `/${folder}/${name.replace('.md', '')}` }))
}

const titleOf = name => {
  const words = name.replace('.md', '').replaceAll('-', ' ')
  return `${words[0].toUpperCase()}${words.slice(1)}`
}

/**
 * Pages contain text such as `<id>` and `{{`, which VitePress would read as components. So HTML is off, apart from line
 * breaks in tables and from comments, which are left out.
 */
function adaptMarkdown(markdown) {
  markdown.core.ruler.before('normalize', 'comments', state => {
    state.src = state.src.replace(/^<!--.*-->$/gm, '')
  })
  const { text } = markdown.renderer.rules
  markdown.renderer.rules.text = (...args) =>
    text(...args)
      .replaceAll('&lt;br&gt;', '<br>')
      .replaceAll('{{', '&#123;&#123;')
}

// biome-ignore lint/style/noDefaultExport: VitePress reads its configuration from the default export.
export default {
  title: 'Terrarium',
  description: 'A self-hosted document database that speaks FQL, versions 4 and 10',
  srcDir: repository,
  srcExclude: [
    '**/node_modules/**',
    'tests/**',
    'examples/**',
    'site/**',
    '.github/**',
    'dist/**',
    'dashboard/**',
  ],
  outDir: './dist',
  cacheDir: './.cache',
  rewrites: { 'README.md': 'index.md', 'docs/README.md': 'docs/index.md' },
  cleanUrls: true,
  // Sources, tests and examples of the repository are no pages of the site.
  ignoreDeadLinks: [
    './LICENSE',
    /^https?:\/\/localhost/,
    /(?:^|\/)(?:src|tests|examples|deploy|dashboard|scripts|bench)\//,
  ],
  markdown: { html: false, config: adaptMarkdown },
  // The pages are outside of this folder, so their imports do not find its packages.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: packageFile('vue/dist/vue.runtime.esm-bundler.js') },
        { find: 'vue/server-renderer', replacement: packageFile('vue/server-renderer/index.mjs') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Docs', link: '/docs/' },
      { text: 'Changelog', link: '/CHANGELOG' },
      { text: 'Contributing', link: '/CONTRIBUTING' },
    ],
    sidebar: [
      { text: 'Use', items: [{ text: 'Start', link: '/' }, ...pagesIn('docs')] },
      { text: 'Guides', items: pagesIn('docs/guides') },
      { text: 'Reference', collapsed: true, items: pagesIn('docs/reference') },
      {
        text: 'Architecture',
        collapsed: true,
        items: [{ text: 'Overview', link: '/ARCHITECTURE' }, ...pagesIn('docs/internals')],
      },
      { text: 'Decisions', collapsed: true, items: pagesIn('docs/decisions') },
      { text: 'Measurements', collapsed: true, items: pagesIn('docs/measurements') },
    ],
  },
}
