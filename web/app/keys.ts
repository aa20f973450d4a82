import { signal } from '@preact/signals';
import { goTo } from './router.js';

/** Whether the list of keys is open. */
export const isHelpOpen = signal(false);

/** Where `g` and another key lead. */
export const CHORDS: Readonly<Record<string, string>> = {
  h: '/',
  c: '/customers',
  i: '/invoices',
  e: '/events',
  b: '/books',
  p: '/catalog',
  w: '/wallets',
  d: '/developers',
  t: '/clock',
};

/**
 * Somebody writes, or answers a dialog: keys are letters then. A dialog that Escape has closed
 * keeps the focus until the browser draws the page again, so only an open one counts.
 */
function isWriting(target: EventTarget | null): boolean {
  const isField = target instanceof Element && target.matches('input, select, textarea');
  return isField || document.querySelector('dialog[open]') !== null;
}

function rowLinks(): readonly HTMLElement[] {
  return [...document.querySelectorAll('[data-row]')].flatMap((row) => {
    const link = row.querySelector('a');
    return link === null ? [] : [link];
  });
}

/** Goes to the row below, or above, that which has the focus. */
function step(by: 1 | -1): void {
  const links = rowLinks();
  const active = document.activeElement?.closest('[data-row]') ?? null;
  const at = links.findIndex((link) => active?.contains(link) === true);
  const next = at === -1 ? 0 : Math.max(0, Math.min(links.length - 1, at + by));
  links[next]?.focus();
}

/** Handles one key; tells whether it begins a chord. */
function press(key: string): 'chord' | 'done' | 'other' {
  switch (key) {
    case 'g':
      return 'chord';
    case '/':
      document.querySelector<HTMLInputElement>('#find')?.focus();
      return 'done';
    case '?':
      isHelpOpen.value = true;
      return 'done';
    case 'j':
    case 'k':
      step(key === 'j' ? 1 : -1);
      return 'done';
    default:
      return 'other';
  }
}

/** Listens to the keys of the console for as long as the page lives. */
export function listenToKeys(): void {
  let isChord = false;
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && document.activeElement instanceof HTMLInputElement) {
      document.activeElement.blur();
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isWriting(event.target)) return;
    const target = isChord ? CHORDS[event.key] : undefined;
    isChord = false;
    if (target !== undefined) {
      event.preventDefault();
      goTo(target);
      return;
    }
    const outcome = press(event.key);
    isChord = outcome === 'chord';
    if (outcome === 'done') event.preventDefault();
  });
}
