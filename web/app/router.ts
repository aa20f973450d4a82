import { signal } from '@preact/signals';

/** Where all addresses of the console begin. */
export const ROOT = '/console';

/** An address of the console: the environment, the path of the screen, and its filters. */
export type Place = {
  /** Empty where no environment is named yet. */
  readonly environmentId: string;
  /** Begins with a slash, such as `/invoices/inv_1`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
};

/** The place of an address below `/console`. */
export function placeOf(pathname: string, search: string): Place {
  const [environmentId = '', ...rest] = pathname.slice(ROOT.length + 1).split('/');
  const query = Object.fromEntries(new URLSearchParams(search));
  return { environmentId, path: `/${rest.join('/')}`, query };
}

/** The address of a place; filters without a value are left out. */
export function addressOf({ environmentId, path, query }: Place): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(given).toString();
  return `${ROOT}/${environmentId}${path}${search === '' ? '' : `?${search}`}`;
}

/** What the names of a pattern such as `/invoices/:id` stand for; null when it does not match. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const names: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
    } else if (value === '') return null;
    else names[part.slice(1)] = decodeURIComponent(value);
  }
  return names;
}

/** A path with what its names stand for. */
export function pathTo(pattern: string, names: Readonly<Record<string, string>> = {}): string {
  return pattern.replaceAll(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent(names[name] ?? ''),
  );
}

const here = (): Place =>
  typeof location === 'undefined'
    ? { environmentId: '', path: '/', query: {} }
    : placeOf(location.pathname, location.search);

/** Where the browser is. */
export const place = signal<Place>(here());

/** The address of another screen of the same environment. */
export function hrefTo(path: string, query: Readonly<Record<string, string>> = {}): string {
  return addressOf({ environmentId: place.value.environmentId, path, query });
}

export function navigate(address: string, { isReplaced = false } = {}): void {
  if (isReplaced) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place.value = here();
}

export function goTo(path: string, query: Readonly<Record<string, string>> = {}): void {
  navigate(hrefTo(path, query));
}

/** Changes filters of the present screen; the first page follows. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const { environmentId, path, query } = place.value;
  const next = { ...query, page: '', ...changes };
  navigate(addressOf({ environmentId, path, query: next }), { isReplaced: !('page' in changes) });
}

/** Whether a click asks for the page itself, and not for another tab or a download. */
function isPlain({ button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented }: MouseEvent) {
  return button === 0 && ![metaKey, ctrlKey, shiftKey, altKey, defaultPrevented].includes(true);
}

/** The address of a link to one of our screens. */
function addressOfLink(link: HTMLAnchorElement): string | null {
  const isElsewhere = link.target !== '' || link.hasAttribute('download') || link.hash !== '';
  const isOurs = link.origin === location.origin && link.pathname.startsWith(`${ROOT}/`);
  return isOurs && !isElsewhere ? `${link.pathname}${link.search}` : null;
}

/** The address of a click that the browser need not handle: a plain one, on a link of ours. */
function addressOfClick(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  return link !== null && isPlain(event) ? addressOfLink(link) : null;
}

/** Follows links without loading the page anew, and the browser's own back and forward. */
export function followLinks(): void {
  addEventListener('popstate', () => (place.value = here()));
  document.addEventListener('click', (event) => {
    const address = addressOfClick(event);
    if (address === null) return;
    event.preventDefault();
    navigate(address);
    scrollTo(0, 0);
  });
}
