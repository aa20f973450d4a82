import { hrefTo, place } from '../app/router.js';
import { plain, t, type PlainWord } from '../words/words.js';

/** A part of a screen, which the address names. */
export type Tab = { readonly name: string; readonly word: PlainWord; readonly isOpen: boolean };

/** The tab of the address; the first one where it names none. */
export function tabOf(tabs: readonly Tab[]): string {
  const open = tabs.filter(({ isOpen }) => isOpen);
  const named = open.find(({ name }) => name === place.value.query['tab']);
  return (named ?? open[0])?.name ?? '';
}

export function Tabs({ of }: { of: readonly Tab[] }) {
  const now = tabOf(of);
  const { path } = place.value;
  return (
    <nav class="tabs" aria-label={t('parts')}>
      {of
        .filter(({ isOpen }) => isOpen)
        .map(({ name, word }) => (
          <a
            key={name}
            href={hrefTo(path, { tab: name })}
            {...(name === now ? { 'aria-current': 'page' as const } : {})}
          >
            {plain(word)}
          </a>
        ))}
    </nav>
  );
}
