import type { ComponentChildren } from 'preact';
import { closeSession, may, session } from '../data/api.js';
import { Dialog } from '../parts/form.js';
import { To } from '../parts/values.js';
import { plain, t, type PlainWord } from '../words/words.js';
import { CHORDS, isHelpOpen } from './keys.js';
import { addressOf, goTo, navigate, place } from './router.js';

type Door = { readonly path: string; readonly word: PlainWord; readonly isOpen: () => boolean };

/** What stands in the navigation, for whom the server lets in. */
const DOORS: readonly Door[] = [
  { path: '/', word: 'home', isOpen: () => may('POST', '/invoices/search') },
  { path: '/customers', word: 'customers', isOpen: () => may('POST', '/customers/search') },
  { path: '/invoices', word: 'invoices', isOpen: () => may('POST', '/invoices/search') },
  { path: '/events', word: 'events', isOpen: () => may('GET', '/events') },
  { path: '/books', word: 'books', isOpen: () => may('GET', '/ledger/balances') },
  { path: '/catalog', word: 'catalog', isOpen: () => may('POST', '/plans/search') },
  { path: '/wallets', word: 'wallets', isOpen: () => may('POST', '/wallets/search') },
  { path: '/developers', word: 'developers', isOpen: () => may('GET', '/secrets/api/keys') },
  { path: '/clock', word: 'time_machine', isOpen: () => may('GET', '/jobs') },
  { path: '/first-steps', word: 'first_steps', isOpen: () => may('POST', '/meters') },
];

function isHere(path: string): boolean {
  const now = place.value.path;
  return path === '/' ? now === '/' : now === path || now.startsWith(`${path}/`);
}

function Navigation() {
  return (
    <nav class="doors" aria-label={t('navigation')}>
      <ul>
        {DOORS.filter(({ isOpen }) => isOpen()).map(({ path, word }) => (
          <li key={path} class={isHere(path) ? 'here' : ''}>
            <To pattern={path}>{plain(word)}</To>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function FindBox() {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const { currentTarget: form } = event;
    const text = form instanceof HTMLFormElement ? new FormData(form).get('q') : null;
    if (typeof text === 'string' && text.trim() !== '') goTo('/find', { q: text.trim() });
  };
  return (
    <form class="find" role="search" onSubmit={submit}>
      <label class="hidden" for="find">
        {t('find')}
      </label>
      <input id="find" name="q" type="search" placeholder={t('find_hint')} autocomplete="off" />
    </form>
  );
}

function EnvironmentChoice() {
  const environments = session.value?.environments ?? [];
  const { environmentId } = place.value;
  return (
    <label class="environment">
      <span class="hidden">{t('environment')}</span>
      <select
        value={environmentId}
        onChange={({ currentTarget }) =>
          navigate(addressOf({ environmentId: currentTarget.value, path: '/', query: {} }))
        }
      >
        {environments.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function UserMenu() {
  const user = session.value?.user;
  return (
    <>
      <button type="button" class="plain" popovertarget="user-menu">
        {user?.email ?? user?.name ?? t('you')}
      </button>
      <div id="user-menu" popover="auto">
        <p>
          {user?.tenant.name} · {user?.roles.join(', ')}
        </p>
        <button type="button" onClick={() => (isHelpOpen.value = true)}>
          {t('keys')}
        </button>
        <button type="button" onClick={() => void closeSession()}>
          {t('sign_out')}
        </button>
      </div>
    </>
  );
}

const KEYS: readonly (readonly [string, PlainWord])[] = [
  ['/', 'find'],
  ['?', 'keys'],
  ['j', 'next_row'],
  ['k', 'row_before'],
  ['Enter', 'open_row'],
  ['Esc', 'close'],
];

function Help() {
  const doors = Object.entries(CHORDS).flatMap(([key, path]) =>
    DOORS.filter((door) => door.path === path).map(({ word }) => [`g ${key}`, word] as const),
  );
  return (
    <Dialog title={t('keys')} close={() => (isHelpOpen.value = false)}>
      <dl class="facts">
        {[...KEYS, ...doors].map(([key, word]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{plain(word)}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="main">{t('close')}</button>
      </form>
    </Dialog>
  );
}

/** What is around every screen. */
export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#main">
        {t('to_content')}
      </a>
      <header class="top">
        <To pattern="/" class="brand">
          Minutebook
        </To>
        <EnvironmentChoice />
        <FindBox />
        <UserMenu />
      </header>
      <Navigation />
      <main id="main">{children}</main>
      {isHelpOpen.value && <Help />}
    </>
  );
}
