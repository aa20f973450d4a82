import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Stack } from '../../cli/stack/stack.js';
import { startBrowser } from '../harness/browser.js';
import { test } from '../harness/fixtures.js';
import { withTestStack } from '../harness/test-stack.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 800 };
/** A screen that is not there by then is broken. */
const PATIENCE_MS = 15_000;

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] };

type AxeResult = { readonly violations: readonly Violation[]; readonly passed: number };

/** What a browser must never do or say on our pages. */
class Faults {
  readonly found: string[] = [];

  watch(context: BrowserContext, origin: string): void {
    context.on('request', (request) => {
      const url = request.url();
      const isOurs = url.startsWith(`${origin}/`) || url.startsWith(`blob:${origin}/`);
      if (!isOurs) this.found.push(`a foreign request: ${url}`);
    });
    context.on('console', (message) => {
      const isAnswer = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isAnswer) this.found.push(message.text());
    });
    context.on('weberror', (error) => this.found.push(error.error().message));
    context.on('response', (response) => {
      if (response.status() >= 500) this.found.push(`${response.status()} of ${response.url()}`);
    });
  }
}

async function openContext(browser: Browser, { stack, faults }: World): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: WIDE, baseURL: stack.url, locale: 'en-GB' });
  context.setDefaultTimeout(PATIENCE_MS);
  faults.watch(context, stack.url);
  return context;
}

type World = { readonly stack: Stack; readonly faults: Faults };

/** The screen has read all that it shows. */
async function settle(page: Page): Promise<void> {
  await page.waitForSelector('main:has(h1):not(:has(.loading))');
}

/** What axe finds wrong, in both themes and on a narrow screen. The policy of the page allows axe
 * no inline script, so it is run by the debugger of the browser. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  await page.evaluate(AXE);
  // Only colours differ between the themes.
  for (const [colorScheme, rules] of [
    ['light', '{}'],
    ['dark', '{ runOnly: ["color-contrast"] }'],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations, passed } = await page.evaluate<AxeResult>(
      `axe.run(document, ${rules}).then(({ violations, passes }) => ({
        violations,
        passed: passes.flatMap(({ nodes }) => nodes).length,
      }))`,
    );
    // It has looked at something.
    expect(passed).toBeGreaterThan(5);
    for (const { id, nodes } of violations) {
      found.push(`${colorScheme} ${page.url()} ${id}: ${nodes[0]?.html ?? ''}`);
    }
  }
  await page.setViewportSize(NARROW);
  for (const direction of ['ltr', 'rtl']) {
    await page.evaluate(`document.documentElement.dir = '${direction}'`);
    const isTooWide = await page.evaluate<boolean>(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    );
    if (isTooWide) found.push(`${direction} wider than 390 px: ${page.url()}`);
  }
  await page.setViewportSize(WIDE);
  // Where one reads from right to left, the navigation stands on the right.
  const isMirrored = await page.evaluate<boolean>(
    'document.querySelector("h1").getBoundingClientRect().right > innerWidth / 2',
  );
  if (!isMirrored) found.push(`not mirrored: ${page.url()}`);
  await page.evaluate('document.documentElement.dir = "ltr"');
  return found;
}

/** From an empty installation to the first invoice, by the forms of the first steps. */
async function takeFirstSteps(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'First steps', exact: true }).click();
  // The forms are locked until they write to the other environment.
  await page.getByRole('button', { name: 'Try it in development' }).click();
  for (const name of [
    'Make the meter',
    'Make the plan',
    'Make the customer',
    'Send the event',
    'Subscribe the customer',
  ]) {
    await page.getByRole('button', { name }).click();
  }
  await page.getByRole('link', { name: /^The first invoice stands here/ }).click();
  await page.getByRole('heading', { name: 'Draft invoice' }).waitFor();
}

/** From the amount to the event in two clicks, and Verify in one more. */
async function askWhy(page: Page): Promise<void> {
  const invoice = page.url();
  await page.getByRole('link', { name: '0.25 USD' }).click();
  const event = page.getByRole('link', { name: 'call-1' });
  await event.waitFor();
  expect(await page.getByText('1 events add up to 1').isVisible()).toBe(true);
  const results = await page.locator('.step .result').allInnerTexts();
  expect(results).toEqual(['1', '0.25 USD', '0.25 USD']);
  await page.getByRole('button', { name: 'Verify' }).click();
  const verdict = page.locator('.verdict');
  await verdict.waitFor();
  expect((await verdict.innerText()).match(/the same/g)).toHaveLength(2);
  await event.click();
  await page.getByRole('heading', { name: 'Event call-1' }).waitFor();
  await settle(page);
  await page.goBack();
  await page.goBack();
  expect(page.url()).toBe(invoice);
}

/** Finalizes the invoice, credits a part of it and records the payment of the rest by the keyboard
 * alone. */
async function settleByKeyboard(page: Page): Promise<void> {
  const press = async (name: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
  };
  await press('Finalize');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Invoice \S+/ }).waitFor();
  await press('Credit note');
  await page.getByLabel('0.25 USD, of which').focus();
  await page.keyboard.type('0.10');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'draft' }).waitFor();
  await press('Finalize');
  await page.keyboard.press('Enter');
  await page.locator('.sums div:last-child', { hasText: '0.15 USD' }).waitFor();
  await press('Record a payment');
  await page.getByLabel('Amount (USD)').focus();
  await page.keyboard.press('Enter');
  await page.locator('.sums div:last-child', { hasText: '0.00 USD' }).waitFor();
  await settle(page);
  const postings = await page.getByRole('region', { name: 'Postings' }).innerText();
  expect(postings).toMatch(/receivable/);
}

/** All accounts together are at zero, to the last digit. */
async function readBooks(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('button', { name: 'Check the books' }).click();
  await page.locator('.verdict.good').waitFor();
  await page.goBack();
}

/** Keys lead everywhere, and the address keeps the filters. */
async function useKeys(page: Page): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
  await settle(page);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Invoice/ }).waitFor();
  await page.goBack();
  await page.getByLabel('State').selectOption('DRAFT');
  await page.getByText('No invoices.').waitFor();
  await page.reload();
  await page.getByText('No invoices.').waitFor();
  expect(new URL(page.url()).search).toBe('?status=DRAFT');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.locator('#find:focus').waitFor();
  await page.keyboard.type('acme');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Acme Inc.' }).click();
  await page.getByRole('heading', { name: 'Acme Inc.' }).waitFor();
  await settle(page);
}

/** Opens a wizard of a subscription, and lets it show what it would do. */
async function showEffect(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('button', { name: 'Show the effect' }).click();
  await page.getByRole('button', { name: 'Do exactly this' }).waitFor();
}

async function openSubscription(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Pay as you go' }).first().click();
  await page.getByRole('heading', { name: 'Subscription Pay as you go' }).waitFor();
}

/** Adds the addon, of which the rest of the period is charged at once as it was shown. */
async function addTheAddon(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByRole('link', { name: 'Acme Inc.' }).click();
  await openSubscription(page);
  await showEffect(page, 'Add an addon');
  await page.getByRole('button', { name: 'Do exactly this' }).click();
  await page.getByRole('region', { name: 'Addons' }).getByText('Support').waitFor();
}

/** Asks what a pause and an end would do, and does exactly that. */
async function endSubscription(page: Page): Promise<void> {
  await openSubscription(page);
  const wizard = (name: string) => showEffect(page, name);
  await wizard('Pause');
  expect(await page.getByText('Period will end').isVisible()).toBe(true);
  await page.getByRole('button', { name: 'Do exactly this' }).click();
  await page.getByRole('link', { name: 'Resume', exact: true }).waitFor();
  await wizard('Resume');
  await page.getByRole('button', { name: 'Do exactly this' }).click();
  await page.getByRole('link', { name: 'Pause', exact: true }).waitFor();
  // Somebody else changes it meanwhile: it is refused, and says by what.
  await wizard('End it');
  const path = new URL(page.url()).pathname.split('/');
  await page.request.put(`/v1/subscriptions/${path.at(-1) ?? ''}`, {
    headers: { origin: new URL(page.url()).origin, 'x-environment-id': path[2] ?? '' },
    data: { payment_terms: '30 NET' },
  });
  await page.getByRole('button', { name: 'Do exactly this' }).click();
  await page.getByText('payment_terms: – → 30 NET').waitFor();
  await page.reload();
  await wizard('End it');
  await page.getByRole('button', { name: 'Do exactly this' }).click();
  await page.locator('.facts', { hasText: 'Ends' }).first().waitFor();
}

/** Makes what is sold by forms, and an endpoint whose secret is shown once. */
async function makeThings(page: Page): Promise<void> {
  const open = async (door: string, tab: string, button: string): Promise<void> => {
    await page.getByRole('link', { name: door, exact: true }).click();
    await page.getByRole('link', { name: tab, exact: true }).click();
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('dialog').waitFor();
  };
  const send = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
  await open('Catalog', 'Addons', 'Make an addon');
  await page.getByLabel('Name').fill('Support');
  await page.getByLabel('Lookup key').fill('support');
  await send('Make an addon');
  await page.getByRole('heading', { name: 'Addon Support' }).waitFor();
  await page.getByRole('button', { name: 'Make a price' }).click();
  await page.getByLabel('Name').fill('Support');
  await page.getByLabel('Price model').selectOption('TIERED');
  await page.getByLabel('Up to').first().fill('10');
  await page.getByLabel('Price of one').first().fill('2');
  await page.getByLabel('Price of one').nth(1).fill('1.50');
  await send('Make a price');
  await page.getByRole('cell', { name: '2 tiers' }).waitFor();
  await open('Developers', 'Webhook endpoints', 'Make an endpoint');
  await page.getByLabel('Address').fill('https://example.com/hook');
  await send('Make an endpoint');
  await page.getByRole('dialog', { name: 'Shown once' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: 'https://example.com/hook' }).waitFor();
}

/** Turns the clock on by a month, and finalizes the drafts that it has made. */
async function turnTheClock(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Time machine', exact: true }).click();
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  const until = await page.getByLabel('Until · UTC').inputValue();
  await page.getByRole('dialog').getByRole('button', { name: 'Advance' }).click();
  await page
    .locator(`.facts div:first-child time[datetime^="${until}"]`)
    .waitFor({ timeout: 30_000 });
  await page.getByText('ready', { exact: true }).waitFor();
  const happened = page.getByRole('region', { name: 'What happened when it was advanced' });
  await happened.getByRole('row').nth(1).waitFor();
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('link', { name: 'Draft invoices' }).click();
  await page.getByRole('button', { name: 'Finalize all drafts' }).click();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  // It is left, and found again.
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByText('1 of 1 drafts were looked at').waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
}

/** The customer as it was when it was made, from the audit trail. */
async function goBackInTime(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Customers', exact: true }).click();
  await page.getByRole('link', { name: 'Acme Inc.' }).click();
  const happened = page.getByRole('region', { name: 'What happened' });
  await happened.waitFor();
  const all = await happened.getByRole('row').count();
  await page.getByRole('slider').focus();
  await page.keyboard.press('Home');
  await page.waitForURL(/as_of=/);
  await settle(page);
  await page.getByRole('region', { name: 'As of' }).or(page.getByText('Nothing here.')).waitFor();
  expect(await happened.getByRole('row').count()).toBeLessThan(all);
  await page.goBack();
}

/** An invoice of a thousand lines is drawn piece by piece, as one comes near. */
async function openLongInvoice(page: Page): Promise<void> {
  const [, , environmentId = ''] = new URL(page.url()).pathname.split('/');
  const { origin } = new URL(page.url());
  const headers = { origin, 'x-environment-id': environmentId };
  const found = await page.request.post('/v1/customers/search', { headers, data: {} });
  const { items } = (await found.json()) as { items: readonly { id: string }[] };
  const lines = Array.from({ length: 1000 }, (_none, line) => ({
    display_name: `Line ${line}`,
    amount: '1',
  }));
  const made = await page.request.post('/v1/invoices', {
    headers,
    data: {
      customer_id: items[0]?.id,
      currency: 'usd',
      subtotal: '1000',
      total: '1000',
      amount_due: '1000',
      line_items: lines,
    },
  });
  const { id } = (await made.json()) as { id: string };
  await page.goto(`/console/${environmentId}/invoices/${id}`);
  await settle(page);
  const rows = page.getByRole('region', { name: 'Lines' }).getByRole('row');
  expect(await rows.count()).toBeLessThan(150);
  await page.getByRole('button', { name: /more rows$/ }).scrollIntoViewIfNeeded();
  await rows.nth(150).waitFor({ state: 'attached' });
}

type Seen = { readonly paths: readonly string[]; readonly environmentId: string };

/** The address of every screen, with records that are there. */
async function screensOf(page: Page, { stack }: World): Promise<Seen> {
  const environmentId = new URL(page.url()).pathname.split('/')[2] ?? '';
  const idOf = async (path: string): Promise<string> => {
    const answer = await page.request.post(`${stack.url}/v1${path}/search`, {
      headers: { origin: stack.url, 'x-environment-id': environmentId },
      data: { order: 'asc' },
    });
    const { items } = (await answer.json()) as { items: readonly { id: string }[] };
    return `${path}/${items[0]?.id ?? ''}`;
  };
  const invoice = await idOf('/invoices');
  await page.goto(`/console/${environmentId}${invoice}`);
  const line = await page.getByRole('link', { name: '0.25 USD' }).getAttribute('href');
  const plan = await idOf('/plans');
  const subscription = await idOf('/subscriptions');
  const paths = [
    '/',
    '/find?q=acme',
    '/customers',
    await idOf('/customers'),
    '/invoices',
    invoice,
    (line ?? '').slice(`/console/${environmentId}`.length),
    subscription,
    ...['plan', 'quantity', 'addon', 'pause', 'cancel'].map(
      (each) => `${subscription}?wizard=${each}`,
    ),
    `${invoice}/diff`,
    `${invoice}?do=make_credit_note`,
    '/events?name=api_call',
    '/events/call-1',
    '/books',
    '/catalog',
    ...['meters', 'features', 'addons', 'coupons'].map((each) => `/catalog?tab=${each}`),
    `/catalog${plan}`,
    `/catalog${plan}?do=make_price`,
    '/wallets',
    '/developers',
    ...['endpoints', 'deliveries', 'exports'].map((each) => `/developers?tab=${each}`),
    '/clock',
    '/first-steps',
  ];
  return { environmentId, paths };
}

async function lookAtAll(page: Page, { environmentId, paths }: Seen): Promise<void> {
  const found: string[] = [];
  for (const path of paths) {
    await page.goto(`/console/${environmentId}${path}`);
    await settle(page);
    found.push(...(await violationsOf(page)));
    expect([path, await page.getByRole('alert').allInnerTexts()]).toEqual([path, []]);
  }
  expect(found).toEqual([]);
}

/** A user with these roles in the tenant of the stack, with the password that it got. */
async function makeReader({ stack }: World) {
  const answer = await fetch(`${stack.url}/v1/users`, {
    method: 'POST',
    headers: { 'x-api-key': stack.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'user', email: 'r@example.com', roles: ['all_reader'] }),
  });
  const { password } = (await answer.json()) as { password: string };
  return { email: 'r@example.com', password };
}

async function makeTenant({ stack }: World) {
  const login = { email: 'other@example.com', password: 'correct horse battery' };
  await fetch(`${stack.url}/v1/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...login, tenant_name: 'Other' }),
  });
  return login;
}

async function signIn(page: Page, login: { email: string; password: string }): Promise<void> {
  await page.goto('/console/');
  await page.getByLabel('E-mail').fill(login.email);
  await page.getByLabel('Password').fill(login.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
}

/** A reader sees every screen, and on none of them a control that writes. */
async function lookAsReader(page: Page, world: World, seen: Seen): Promise<void> {
  await page.goto('/console/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await signIn(page, await makeReader(world));
  for (const path of seen.paths.filter((each) => each !== '/first-steps')) {
    await page.goto(`/console/${seen.environmentId}${path}`);
    await settle(page);
    const writing = await page.locator('[data-writes], form.form').count();
    expect([path, writing]).toEqual([path, 0]);
  }
  expect(await page.getByRole('link', { name: 'First steps' }).count()).toBe(0);
}

/** Another tenant finds none of the records, under its own environment. */
async function lookAsStranger(page: Page, world: World, seen: Seen): Promise<void> {
  await signIn(page, await makeTenant(world));
  const own = new URL(page.url()).pathname.split('/')[2] ?? '';
  const named = seen.paths.filter((path) => /_[0-9A-Z]{26}|call-1/.test(path));
  const records = [...new Set(named.map((path) => path.replace(/\?.*/, '')))];
  expect(records.length).toBeGreaterThanOrEqual(6);
  for (const path of records) {
    await page.goto(`/console/${own}${path}`);
    await page.getByText('Not found.').first().waitFor();
  }
  // The address of the other's environment leads home.
  await page.goto(`/console/${seen.environmentId}/invoices`);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/${own}/`);
}

test('the console leads from first steps to an invoice, why it has its amount, and its payment', async () => {
  await withTestStack({}, async (stack) => {
    const world = { stack, faults: new Faults() };
    const browser = await startBrowser();
    try {
      const context = await openContext(browser, world);
      const page = await context.newPage();
      await page.goto(stack.consoleUrl ?? '');
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      expect(page.url()).not.toContain('code=');
      await takeFirstSteps(page);
      await askWhy(page);
      await settleByKeyboard(page);
      await readBooks(page);
      await useKeys(page);
      await makeThings(page);
      await addTheAddon(page);
      await turnTheClock(page);
      await goBackInTime(page);
      await endSubscription(page);
      await openLongInvoice(page);
      const seen = await screensOf(page, world);
      await lookAtAll(page, seen);
      await lookAsReader(await (await openContext(browser, world)).newPage(), world, seen);
      await lookAsStranger(await (await openContext(browser, world)).newPage(), world, seen);
      expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
      await page.getByRole('button', { name: 'Administrator' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(world.faults.found).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
