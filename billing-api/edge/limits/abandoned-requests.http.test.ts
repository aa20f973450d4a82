import { inject } from 'vitest';
import { abandonRequests, HeldKeys } from '../../../load-tests/harness/abandoned-requests.js';
import { systemClock } from '../../../runtime/clock.js';
import { createApiKeyDirectory } from '../../../sql/api-keys.js';
import { API_KEY, withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { test } from '../../testing/billing-test.js';

const ABANDONED = inject('isNightly') ? 50_000 : 2_000;

async function valueOf({ metrics }: BillingUnderTest, name: string): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? NaN;
}

test(
  'requests whose clients leave while their key is looked up give their memory back',
  { timeout: 600_000 },
  async ({ database, clickhouse }) => {
    const apiKeys = new HeldKeys(createApiKeyDirectory(database.database, systemClock));
    const engines = { database: database.database, clickhouse: clickhouse.client, apiKeys };
    await withBillingApi(engines, async (api) => {
      const head = ['POST /v1/plans HTTP/1.1', `x-api-key: ${API_KEY}`];
      const connections = (): Promise<number> => valueOf(api, 'minutebook_http_connections');
      const bytesHeld = (): Promise<number> => valueOf(api, 'minutebook_body_bytes');
      const requests = { port: api.port, head, keys: apiKeys, connections, bytesHeld };
      await abandonRequests(requests, ABANDONED);
      apiKeys.stop();
      await api.make('/v1/plans', { name: 'Pro' });
    });
  },
);
