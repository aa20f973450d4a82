/**
 * Builds the site of the pages into dist/pages, which billing-api serves below /docs: pages by
 * VitePress, each with its Markdown beside it, and a list of them for programs. Does nothing when
 * neither a page nor what makes the site has changed.
 */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../prepare/tools.mjs';
import { frontPage, groupsOf, llmsText, sidebarOf } from './navigation.mjs';
import { filesOfPages, readPages } from './pages.mjs';
import { referencePages } from './reference.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const OUTPUT = join(root, 'dist', 'pages');
/** Below the project, so that the theme finds the packages; one for each build that runs. */
const WORK = join(root, 'dist', `.pages-work-${process.pid}`);
const STAMP = 'sources.sha256';
const DOCUMENT = join(root, 'billing-api', 'generated', 'openapi.json');

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function hashOfSources() {
  const own = readdirSync(here, { recursive: true }).filter((name) => /\.(mjs|css)$/.test(name));
  const files = [
    ...filesOfPages(),
    ...own.map((name) => join(here, name)),
    join(root, 'web', 'icon.svg'),
    join(root, 'package-lock.json'),
    DOCUMENT,
  ];
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

/** Everything that VitePress reads, in one folder. */
function writeSources(source, pages, groups) {
  for (const { place, text, source: picture } of pages) {
    if (picture === undefined) write(join(source, place), text);
    else {
      mkdirSync(dirname(join(source, place)), { recursive: true });
      copyFileSync(picture, join(source, place));
    }
  }
  if (!pages.some(({ place }) => place === 'index.md')) {
    write(join(source, 'index.md'), frontPage(groups));
  }
  mkdirSync(join(source, 'public'), { recursive: true });
  copyFileSync(join(root, 'web', 'icon.svg'), join(source, 'public', 'icon.svg'));
  const settings = join(source, '.vitepress');
  write(join(settings, 'config.mjs'), `export { default } from '${join(here, 'config.mjs')}';\n`);
  write(join(settings, 'theme', 'index.mjs'), `export { default } from '@site-theme';\n`);
}

/** The Markdown behind each page, and the list of them. */
function writeTexts(output, source, groups) {
  const places = groups.flatMap(({ pages }) => pages.map(({ place }) => place));
  for (const place of new Set(['index.md', ...places])) {
    mkdirSync(dirname(join(output, place)), { recursive: true });
    copyFileSync(join(source, place), join(output, place));
  }
  write(join(output, 'llms.txt'), llmsText(groups, '/docs/'));
}

/** @returns whether it built. */
export async function buildSite() {
  const hash = hashOfSources();
  const stamp = join(OUTPUT, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return false;
  const [source, output] = [join(WORK, 'pages'), join(WORK, 'site')];
  process.once('exit', () => rmSync(WORK, { recursive: true, force: true }));
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  const pages = [...readPages(), ...referencePages(document)];
  const groups = groupsOf(pages.filter(({ text }) => text !== undefined));
  writeSources(source, pages, groups);
  const facts = join(WORK, 'site.json');
  write(facts, JSON.stringify({ sidebar: sidebarOf(groups), output }));
  process.env.MINUTEBOOK_SITE = facts;
  const { build } = await import('vitepress');
  await build(source);
  writeTexts(output, source, groups);
  write(join(output, STAMP), hash);
  // At once, so that nobody is served half a site.
  rmSync(OUTPUT, { recursive: true, force: true });
  renameSync(output, OUTPUT);
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildSite();
