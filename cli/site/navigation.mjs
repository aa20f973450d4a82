/**
 * The navigation of the site. It follows from folders, titles and section numbers, so that a page
 * that moves takes its entry with it.
 */
import { posix } from 'node:path';
import { outlineOf } from './pages.mjs';

/** Readers come in this order. Folders that are not here follow by their names. */
const READERS = ['start', 'how-to', 'rules', 'finance', 'operators', '.', 'reference'];
const CONTRIBUTORS = ['internals', 'measurements', 'protocol-model', 'project'];
const NAMES = { '.': 'Handbook', 'how-to': 'How to', reference: 'API reference' };

function rankOf(folder) {
  const first = READERS.indexOf(folder);
  if (first >= 0) return first;
  const last = CONTRIBUTORS.indexOf(folder);
  return last < 0 ? READERS.length : READERS.length + 1 + last;
}

/** The first section number of a page, such as 13 of "13. Invoices" and of "13.1 Lines". */
function numberOf(text) {
  const [, number] = /^#+ (\d+)[. ]/m.exec(text) ?? [];
  return number === undefined ? Infinity : Number(number);
}

function nameOf(folder, pages) {
  const index = pages.find(({ place }) => posix.basename(place) === 'index.md');
  if (NAMES[folder] !== undefined) return NAMES[folder];
  if (index !== undefined) return outlineOf(index.text).title;
  const name = posix.basename(folder).replaceAll('-', ' ');
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

const compare = (left, right) => (left < right ? -1 : Number(left > right));

function byOrder(left, right) {
  const first = (page) => (posix.basename(page.place) === 'index.md' ? 0 : 1);
  return (
    first(left) - first(right) ||
    compare(left.number, right.number) ||
    compare(left.place, right.place)
  );
}

/** The address of a page below that of the site. */
export function addressOf(place) {
  return `/${place.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;
}

/** Groups of pages: [{name, folder, pages: [{place, title, about}]}]. */
export function groupsOf(pages) {
  return [...groupByFolder(pages)]
    .map(([folder, inside]) => ({
      folder,
      name: nameOf(folder, inside),
      pages: inside
        .map((page) => ({ ...page, ...outlineOf(page.text), number: numberOf(page.text) }))
        .sort(byOrder),
    }))
    .sort((a, b) => rankOf(a.folder) - rankOf(b.folder) || compare(a.folder, b.folder));
}

function groupByFolder(pages) {
  const folders = new Map();
  for (const page of pages) {
    const folder = posix.dirname(page.place);
    folders.set(folder, [...(folders.get(folder) ?? []), page]);
  }
  return folders;
}

/** What VitePress shows beside every page. */
export function sidebarOf(groups) {
  return groups.map(({ name, pages }) => ({
    text: name,
    collapsed: true,
    items: pages.map(({ place, title }) => ({ text: title, link: addressOf(place) })),
  }));
}

/** The first page: every page with what it is about. */
export function frontPage(groups) {
  const parts = groups.map(({ name, pages }) => {
    const rows = pages.map(({ place, title, about }) => `- [${title}](./${place})  \n  ${about}`);
    return `## ${name}\n\n${rows.join('\n')}\n`;
  });
  return `# Minutebook\n\nUsage metering and billing whose numbers can be audited, line by line.\n\n${parts.join('\n')}`;
}

/** https://llmstxt.org: the pages as plain Markdown, each with what it is about. */
export function llmsText(groups, base) {
  const parts = groups.map(({ name, pages }) => {
    const rows = pages.map(({ place, title, about }) => `- [${title}](${base}${place}): ${about}`);
    return `## ${name}\n\n${rows.join('\n')}\n`;
  });
  return `# Minutebook\n\n> Usage metering and billing whose numbers can be audited, line by line.\n\n${parts.join('\n')}`;
}
