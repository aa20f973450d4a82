import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../runtime/project.js';

/** The pages of a folder below docs/, by path, in the order of their names. */
export function pagesOf(
  folder: string,
): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(join(projectRoot, 'docs', folder))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => {
      const path = join('docs', folder, file);
      return { path, text: readFileSync(join(projectRoot, path), 'utf8') };
    });
}

/** All chapters of docs/domain.md, one after the other. */
export const readRules = (): string =>
  pagesOf('rules')
    .map(({ text }) => text)
    .join('\n');

/** All pages for operators, whose sections docs/operations.md lists. */
export const readOperators = (): string =>
  pagesOf('operators')
    .map(({ text }) => text)
    .join('\n');

/** What a page says from the heading that begins with this number up to the next heading. */
export function sectionOf(pages: string, number: string): string {
  const parts = pages.split(/^(?=#+ )/m);
  const found = parts.find((part) => /^#+ (\S+)/.exec(part)?.[1]?.replace(/\.$/, '') === number);
  if (found === undefined) throw new Error(`no page has a section ${number}`);
  return found;
}
