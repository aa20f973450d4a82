import { render, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listenToKeys } from './app/keys.js';
import { addressOf, followLinks, matchPath, navigate, place, ROOT } from './app/router.js';
import { Shell } from './app/shell.js';
import { openSession, readSession, session, type Session } from './data/api.js';
import { Failure } from './parts/states.js';
import { Title } from './parts/title.js';
import { Books } from './screens/books.js';
import { Catalog } from './screens/catalog.js';
import { AddonScreen, PlanScreen } from './screens/plan.js';
import { CustomerScreen } from './screens/customer.js';
import { Customers } from './screens/customers.js';
import { Developers } from './screens/developers.js';
import { Events, EventScreen } from './screens/events.js';
import { Find } from './screens/find.js';
import { FirstSteps } from './screens/first-steps.js';
import { Home } from './screens/home.js';
import { InvoiceScreen } from './screens/invoice.js';
import { InvoiceDifference } from './screens/invoice-difference.js';
import { Invoices } from './screens/invoices.js';
import { LineScreen } from './screens/line.js';
import { SignIn } from './screens/sign-in.js';
import { SubscriptionScreen } from './screens/subscription.js';
import { TimeMachine } from './screens/time-machine.js';
import { Wallets, WalletScreen } from './screens/wallets.js';
import { language, t } from './words/words.js';

/** What the address of a screen names. */
type Named = { readonly id?: string; readonly invoice?: string; readonly line?: string };

/** Every screen with its address. */
const SCREENS: readonly (readonly [pattern: string, screen: ComponentType<Named>])[] = [
  ['/', Home],
  ['/find', Find],
  ['/customers', Customers],
  ['/customers/:id', CustomerScreen],
  ['/invoices', Invoices],
  ['/invoices/:id', InvoiceScreen],
  ['/invoices/:id/diff', InvoiceDifference],
  ['/invoices/:invoice/lines/:line', LineScreen],
  ['/subscriptions/:id', SubscriptionScreen],
  ['/events', Events],
  ['/events/:id', EventScreen],
  ['/books', Books],
  ['/catalog', Catalog],
  ['/catalog/plans/:id', PlanScreen],
  ['/catalog/addons/:id', AddonScreen],
  ['/wallets', Wallets],
  ['/wallets/:id', WalletScreen],
  ['/developers', Developers],
  ['/clock', TimeMachine],
  ['/first-steps', FirstSteps],
];

function Screen() {
  const { path, environmentId } = place.value;
  for (const [pattern, Component] of SCREENS) {
    const names = matchPath(pattern, path);
    // Another record is another screen, with nothing left of the one before.
    if (names !== null) return <Component key={`${environmentId} ${path}`} {...names} />;
  }
  return (
    <>
      <Title of={t('no_such_screen')} />
      <p>{path}</p>
    </>
  );
}

/** Goes to the environment of production where the address names none of the tenant. */
function nameEnvironment({ environments }: Session): void {
  const { environmentId, path } = place.value;
  if (environments.some(({ id }) => id === environmentId)) return;
  const first = environments.find(({ type }) => type === 'production') ?? environments[0];
  const isNamed = environmentId !== '';
  const next = { environmentId: first?.id ?? '', path: isNamed ? '/' : path, query: {} };
  navigate(addressOf(next), { isReplaced: true });
}

const CODE = /^#code=([A-Za-z0-9_-]+)$/;

/** Signs in with the one-time code of the address, which is taken out of it first. */
async function begin(): Promise<void> {
  const code = CODE.exec(location.hash)?.[1];
  if (code === undefined) return readSession();
  navigate(`${ROOT}/`, { isReplaced: true });
  try {
    await openSession({ code });
  } catch (error) {
    await readSession();
    // Whoever is signed in already needs no code.
    if (session.value === null) throw error;
  }
}

function Console() {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    begin().catch(setError);
  }, []);
  const now = session.value;
  useEffect(() => {
    if (now !== null && now !== undefined) nameEnvironment(now);
  }, [now, place.value.environmentId]);
  if (now === undefined) return <main>{error === null ? null : <Failure error={error} />}</main>;
  if (now === null) return <SignIn error={error} />;
  if (!now.environments.some(({ id }) => id === place.value.environmentId)) return null;
  return (
    <Shell>
      <Screen />
    </Shell>
  );
}

document.documentElement.lang = language;
followLinks();
listenToKeys();
const root = document.querySelector('#console');
if (root !== null) render(<Console />, root);
