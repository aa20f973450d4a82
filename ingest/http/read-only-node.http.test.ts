import { expect, vi } from 'vitest';
import { failOver } from '../../load-tests/harness/read-only-database.js';
import { ingestTest as test } from '../testing/ingest-harness.js';

const WAIT = { timeout: 20_000, interval: 100 };

const eventOf = (id: string): string =>
  JSON.stringify({ event_name: 'call', external_customer_id: 'acme', event_id: id });

test('events are refused with 503 while PostgreSQL only reads, and accepted afterwards', async ({
  ingest,
  database,
}) => {
  expect(await ingest.send(eventOf('before'))).toMatchObject({ status: 202 });
  await failOver(database.url, 'reading');
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const refused = await ingest.send(eventOf(`refused ${attempt}`));
    expect(refused).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
  }
  await failOver(database.url, 'writing');
  await vi.waitFor(async () => {
    expect(await ingest.send(eventOf('after'))).toMatchObject({ status: 202 });
  }, WAIT);
  const ids = new Set((await ingest.stored()).map(({ eventId }) => eventId));
  expect([...ids].sort()).toEqual(['after', 'before']);
});
