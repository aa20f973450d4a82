/**
 * The settings of VitePress. Everything comes from the server that serves the pages: no font, script
 * or search of somebody else, and no script or style inside a page, which its policy forbids.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const BASE = '/docs/';
const STYLES = 'assets/colours.css';
const { sidebar, output } = JSON.parse(readFileSync(process.env.MINUTEBOOK_SITE, 'utf8'));

const shortHash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 10);

/** The colours of code stand in attributes `style`; classes of one style sheet replace them. */
const classes = new Map();
function moveStyle(node) {
  const { style } = node.properties;
  if (style === undefined) return;
  const text = typeof style === 'string' ? style : '';
  delete node.properties.style;
  if (text === '') return;
  const name = `c-${shortHash(text)}`;
  classes.set(name, text);
  const known = node.properties.class ?? '';
  node.properties.class = known === '' ? name : `${known} ${name}`;
}

/** "13.2 Lines" is at #13.2 for ever, whatever its words; other headings are at their words. */
function addressOfHeading(title) {
  const [, number] = /^(\d+(?:\.\d+)*|[DI]-?\d+)[. ]/.exec(title) ?? [];
  if (number !== undefined) return number;
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
}

/** Text is text: what looks like an expression of the generator is none. */
function configureMarkdown(md) {
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (tokens, index, ...rest) => {
    const written = text(tokens, index, ...rest);
    return written.includes('{{') ? `<span v-pre>${written}</span>` : written;
  };
  for (const rule of ['th_open', 'td_open']) {
    md.renderer.rules[rule] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      if ((token.attrGet('style') ?? '').includes('right')) token.attrSet('class', 'right');
      token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
      return self.renderToken(tokens, index, options);
    };
  }
}

/**
 * Scripts of the generator that stand in the pages are moved into files of their own. Its styles
 * inside pages go: its own script sets them again.
 */
function moveScripts(html) {
  const plain = html.replaceAll(/(<[a-z][^<>]*?) style="[^"]*"/g, '$1');
  return plain.replaceAll(/<script( id="[\w-]+")?>([\s\S]*?)<\/script>/g, (_all, id = '', code) => {
    const name = `assets/page.${shortHash(code)}.js`;
    mkdirSync(join(output, 'assets'), { recursive: true });
    writeFileSync(join(output, name), code);
    return `<script${id} src="${BASE}${name}"></script>`;
  });
}

export default defineConfig({
  base: BASE,
  outDir: output,
  title: 'Minutebook',
  description: 'Usage metering and billing whose numbers can be audited, line by line.',
  cleanUrls: true,
  metaChunk: true,
  // What it would do for a smooth change of colours is a style that the policy forbids.
  appearance: { disableTransition: false },
  // A page that is looked at asks for itself only: requests without a key are limited.
  router: { prefetchLinks: false },
  head: [
    ['link', { rel: 'icon', href: '/docs/icon.svg' }],
    ['link', { rel: 'stylesheet', href: `${BASE}${STYLES}` }],
  ],
  markdown: {
    html: false,
    // Braces of our pages are text.
    attrs: { disable: true },
    anchor: { slugify: addressOfHeading },
    toc: { slugify: addressOfHeading },
    headers: { slugify: addressOfHeading },
    codeTransformers: [{ name: 'no-style', pre: moveStyle, span: moveStyle, line: moveStyle }],
    config: configureMarkdown,
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Try requests', link: '/docs/try', target: '_self' },
      { text: 'OpenAPI', link: '/openapi.json', target: '_self' },
    ],
  },
  transformHtml: moveScripts,
  buildEnd: () => {
    const rules = [...classes].map(([name, text]) => `.${name}{${text}}`);
    writeFileSync(join(output, STYLES), `${rules.sort().join('\n')}\n`);
  },
  vite: {
    configFile: false,
    build: { chunkSizeWarningLimit: 10_000 },
    resolve: {
      // The theme is outside the folder of the pages.
      alias: { '@site-theme': fileURLToPath(new URL('theme/index.mjs', import.meta.url)) },
    },
  },
});
