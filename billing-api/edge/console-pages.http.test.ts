import { describe, expect } from 'vitest';
import { test } from '../testing/billing-test.js';

const POLICY =
  "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';" +
  "base-uri 'none';form-action 'none';frame-ancestors 'none';" +
  "require-trusted-types-for 'script';trusted-types 'none'";

describe('the console', () => {
  test('is one page for the address of every screen, under a policy that lets nothing foreign in', async ({
    api,
  }) => {
    const pages = ['/console/', '/console/env_1/', '/console/env_1/invoices/inv_1?status=DRAFT'];
    for (const path of pages) {
      const page = await fetch(`${api.url}${path}`);
      expect([path, page.status, page.headers.get('content-security-policy')]).toEqual([
        path,
        200,
        POLICY,
      ]);
      expect(await page.text()).toContain('<script type="module" src="/console/console.js">');
      const tag = page.headers.get('etag') ?? '';
      const again = await fetch(`${api.url}${path}`, { headers: { 'if-none-match': tag } });
      // A browser takes the policy of this answer too.
      expect([again.status, again.headers.get('content-security-policy')]).toEqual([304, POLICY]);
    }
    const moved = await fetch(`${api.url}/console`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/console/']);
  });

  test('sends its files compressed, and checks each for a new release', async ({ api }) => {
    for (const [name, type] of [
      ['console.js', 'text/javascript'],
      ['console.css', 'text/css'],
      ['icon.svg', 'image/svg+xml'],
    ] as const) {
      const url = `${api.url}/console/${name}`;
      const { headers } = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
      expect(headers.get('content-type')).toContain(type);
      expect([headers.get('cache-control'), headers.get('content-encoding')]).toEqual([
        'no-cache',
        'gzip',
      ]);
      const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
    }
  });

  test('is read only', async ({ api }) => {
    const answer = await fetch(`${api.url}/console/`, { method: 'POST' });
    expect(answer.status).toBe(404);
  });
});
