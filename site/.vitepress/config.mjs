import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const content = fileURLToPath(new URL('../content', import.meta.url))

/** The pages of a generated folder, by their first heading. */
function pages(folder) {
  const path = join(content, folder)
  if (!existsSync(path)) return []
  return readdirSync(path)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort()
    .map((name) => ({
      text: /^# (.+)$/m.exec(readFileSync(join(path, name), 'utf8'))[1].replace(/`|^pipewright /g, ''),
      link: `/${folder}/${name.replace('.md', '')}`,
    }))
}

/** Anchors as forges make them, so that links work there and here. */
function slugify(heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

export default defineConfig({
  title: 'Pipewright',
  description: 'Plans, predicts, simulates and runs parallel training of deep neural networks.',
  srcDir: 'content',
  outDir: '../site',
  base: process.env.SITE_BASE ?? '/',
  markdown: { anchor: { slugify }, toc: { slugify } },
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: 'deep',
    nav: [
      { text: 'Guide', link: '/guide' },
      { text: 'Commands', link: '/commands/' },
      { text: 'Formats', link: '/formats' },
      { text: 'Papers', link: '/papers' },
      { text: 'Accuracy', link: '/accuracy' },
      { text: 'Java API', link: '/api' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Overview', link: '/overview' },
          { text: 'Install', link: '/install' },
          { text: 'You train LLMs', link: '/start-llm' },
          { text: 'You study schedules', link: '/start-schedules' },
          { text: 'You use PyTorch', link: '/start-pytorch' },
        ],
      },
      {
        text: 'Use',
        items: [
          { text: 'Guide', link: '/guide' },
          { text: 'How-tos', link: '/how-to' },
          { text: 'Troubleshooting', link: '/troubleshooting' },
          { text: 'For coding agents', link: '/skill' },
          { text: 'Security', link: '/security' },
          { text: 'Caches', link: '/caches' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Commands', link: '/commands/', collapsed: true, items: pages('commands') },
          { text: 'Schedules', link: '/schedules' },
          { text: 'File formats', link: '/formats' },
          { text: 'JSON Schemas', link: '/schemas' },
          { text: 'Java library', link: '/api' },
          { text: 'Javadoc', link: '/javadoc/index.html', target: '_self' },
          { text: 'Glossary', link: '/glossary' },
        ],
      },
      {
        text: 'Trust',
        items: [
          { text: 'Papers', link: '/papers' },
          { text: 'Reproductions', link: '/reproductions' },
          { text: 'Accuracy', link: '/accuracy' },
          { text: 'Comparison', link: '/comparison' },
          { text: 'Results', link: '/results/', collapsed: true, items: pages('results') },
        ],
      },
      {
        text: 'Contribute',
        items: [
          { text: 'Build and test', link: '/contributing' },
          { text: 'Architecture', link: '/architecture' },
          { text: 'Add a schedule', link: '/add-a-schedule' },
          { text: 'Add a planner', link: '/add-a-planner' },
          { text: 'Add a format', link: '/add-a-format' },
          { text: 'Add a strategy', link: '/add-a-strategy' },
          { text: 'Decisions', link: '/decisions' },
          { text: 'Changes', link: '/changelog' },
        ],
      },
    ],
  },
})
