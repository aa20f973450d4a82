import { join } from 'node:path';
import { builtModule, projectRoot } from '../../runtime/project.js';
import { readOperators, sectionOf } from './pages.js';

const FENCE = /^ *```\n([\s\S]*?)^ *```$/gm;

/**
 * The block of commands in a section of docs/operations.md that contains these words, as somebody
 * pastes it into a shell. `replaced` are texts of the page that somebody writes in another way on
 * purpose: addresses, ports and directories of their own.
 * @throws Error unless there is exactly one such block and each text to replace is in it.
 */
export function pastedFrom(
  place: { readonly section: string; readonly words: string },
  replaced: Readonly<Record<string, string>> = {},
): string {
  const { section, words } = place;
  const blocks = [...sectionOf(readOperators(), section).matchAll(FENCE)].map(
    ([, lines = '']) => lines,
  );
  const found = blocks.filter((block) => block.includes(words));
  const [block] = found;
  if (block === undefined || found.length > 1) {
    throw new Error(`section ${section} has ${found.length} blocks with "${words}"`);
  }
  return Object.entries(replaced).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`"${from}" is not in the block with "${words}"`);
    return text.replaceAll(from, to);
  }, block);
}

/** Lines for a shell whose commands run what is built here. */
export function runnable(script: string): string {
  const verb = `${process.execPath} ${builtModule('cli/minutebook')}`;
  return script
    .replaceAll('npx minutebook', verb)
    .replaceAll(/\bnode (dist\/\S+)/g, (_, path: string) => {
      return `exec ${process.execPath} ${join(projectRoot, path)}`;
    });
}
