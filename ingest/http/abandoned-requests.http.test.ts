import { expect, inject } from 'vitest';
import { systemClock } from '../../runtime/clock.js';
import { createApiKeyDirectory } from '../../sql/api-keys.js';
import { abandonRequests, HeldKeys } from '../../load-tests/harness/abandoned-requests.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { API_KEY, startTestIngest } from '../testing/ingest-harness.js';

const ABANDONED = inject('isNightly') ? 50_000 : 2_000;
const EVENT = '{"event_name":"call","external_customer_id":"acme","event_id":"e1"}';

test(
  'requests whose clients leave while their key is looked up give their memory back',
  { timeout: 600_000 },
  async ({ database }) => {
    const keys = new HeldKeys(createApiKeyDirectory(database.database, systemClock));
    const ingest = await startTestIngest(database, { apiKeys: keys });
    const head = ['POST /v1/events HTTP/1.1', `x-api-key: ${API_KEY}`];
    const { port, connections, bodyBytesHeld: bytesHeld } = ingest;
    await abandonRequests({ port, head, keys, connections, bytesHeld }, ABANDONED);
    keys.stop();
    expect(await ingest.send(EVENT)).toMatchObject({ status: 202 });
    await ingest.close();
  },
);
