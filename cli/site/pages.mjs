/**
 * The pages of the site, as texts by the path that they have on it: every Markdown page below
 * docs/, and what a reader needs from other folders. A link to a page leads to its place on the
 * site, and one to any other file of the repository is the name of that file.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { root } from '../prepare/tools.mjs';

/** Pages outside docs/, with their places on the site. */
const ELSEWHERE = {
  'CHANGELOG.md': 'project/changelog.md',
  'SECURITY.md': 'project/security.md',
  'CONTRIBUTING.md': 'project/contributing.md',
  'client/README.md': 'start/typescript-client.md',
};

const PICTURE = /\.(png|svg|jpg)$/;
const FENCE = /^( *)(`{3,}|~{3,})/;
const LINK = /(!?)\[((?:`[^`]*`|[^\][]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

function docsFiles() {
  return readdirSync(join(root, 'docs'), { recursive: true })
    .map((name) => name.split(sep).join('/'))
    .filter((name) => statSync(join(root, 'docs', name)).isFile());
}

/** The page of a folder is what its address shows. */
const onSite = (name) => name.replace(/(^|\/)README\.md$/, '$1index.md');

/** By path in the repository the path on the site, of pages and pictures. */
function placesOfFiles() {
  const names = docsFiles().filter((name) => name.endsWith('.md') || PICTURE.test(name));
  const others = Object.entries(ELSEWHERE).filter(([file]) => existsSync(join(root, file)));
  return new Map([...names.map((name) => [`docs/${name}`, onSite(name)]), ...others]);
}

/** Every line of a text that is in no block of code, changed. */
function mapProse(text, change) {
  let fence = null;
  return text
    .split('\n')
    .map((line) => {
      const [, , mark] = FENCE.exec(line) ?? [];
      if (fence === null && mark === undefined) return change(line);
      if (fence === null) fence = mark;
      else if (mark !== undefined && mark.startsWith(fence)) fence = null;
      return line;
    })
    .join('\n');
}

function linkOf({ file, place, places }, [all, mark, label, target]) {
  const [path = '', section] = target.split('#');
  if (/^[a-z]+:/.test(target) || target.startsWith('/') || path === '') return all;
  const named = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, '');
  const found = places.get(named) ?? places.get(`${named}/README.md`);
  if (found === undefined) return label;
  const way = posix.relative(posix.dirname(place), found);
  const local = way.startsWith('.') ? way : `./${way}`;
  return `${mark}[${label}](${local}${section === undefined ? '' : `#${section}`})`;
}

/** The title of a page and its first sentences, which is what a list of pages says of it. */
export function outlineOf(text) {
  const [, title = ''] = /^# (.+)$/m.exec(text) ?? [];
  const paragraphs = text.replace(/^---\n[\s\S]*?\n---\n/, '').split(/\n{2,}/);
  const first = paragraphs.find((part) => /^[A-Z`*[]/.test(part.trim())) ?? '';
  const plain = first.replaceAll(LINK, '$2').replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ').trim();
  const [sentence = plain] = /^.{20,}?[.:](?= |$)/.exec(plain) ?? [];
  return { title: title.replaceAll('`', ''), about: sentence.replace(/:$/, '.') };
}

/** Pages and pictures of the repository: `text` of a page, `source` of a picture. */
export function readPages() {
  const places = placesOfFiles();
  return [...places].map(([file, place]) => {
    const source = join(root, file);
    if (PICTURE.test(file)) return { place, source };
    const text = mapProse(readFileSync(source, 'utf8'), (line) =>
      line.replaceAll(LINK, (...match) => linkOf({ file, place, places }, match)),
    );
    return { place, text, file };
  });
}

/** What decides the pages, for the build that asks whether anything has changed. */
export function filesOfPages() {
  return [...placesOfFiles().keys()].map((file) => join(root, file));
}
