import { afterAll, describe, expect } from 'vitest';
import { makeCluster } from '../proofs/faults/engines/fault-engines.js';
import { test } from '../harness/fixtures.js';
import { offerKafka } from '../harness/kafka.js';
import { makeTestDirectory } from '../harness/test-directory.js';
import { block, eraseByThePage, Product, Terminal } from './operators-terminal.js';

const BROKERS = 3;

const { kafka, skipReason } = await offerKafka(async () => {
  const { path, remove } = await makeTestDirectory();
  const cluster = await makeCluster(path, BROKERS);
  await cluster.start();
  return { cluster, remove };
});
afterAll(async () => {
  await kafka?.cluster.stop();
  await kafka?.remove();
});

describe(`on three brokers${skipReason === null ? '' : ` (skipped: ${skipReason})`}`, () => {
  test.skipIf(kafka === null)(
    'the steps of docs/operations.md lead from empty servers to counted events, also while a broker is away, and erase a customer',
    async ({ emptyDatabaseUrl, emptyClickHouseUrl }) => {
      const terminal = new Terminal();
      await terminal.paste(
        block('1.1', 'npx minutebook migrate', {
          'postgres://user:password@host/minutebook': `'${emptyDatabaseUrl}'`,
          'http://user:password@host:8123/minutebook': `'${emptyClickHouseUrl}'`,
        }),
      );
      await terminal.paste(
        block('3', 'export KAFKA_BROKERS', {
          'host1:9092,host2:9092,host3:9092': kafka?.cluster.brokers ?? '',
        }),
      );
      const apiKey = terminal.variables['MINUTEBOOK_BOOTSTRAP_API_KEY'] ?? '';
      const product = await Product.start(terminal);
      try {
        await product.post(apiKey, '/customers', { external_id: 'acme', name: 'Acme' });
        const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
        const { id: meterId } = await product.post<{ id: string }>(apiKey, '/meters', meter);
        await product.send(apiKey, [1, 2, 3, 1]);
        await product.expectUsage(apiKey, meterId, 3);
        const metrics = await fetch(`${product.aggregator.operationsUrl}/metrics`);
        expect(await metrics.text()).toMatch(/^minutebook_log_removal_ratio\{.*\} 0$/m);
        await kafka?.cluster.strike(1, async (engine) => {
          await engine.kill();
          await product.send(apiKey, [3, 4]);
          await product.expectUsage(apiKey, meterId, 4);
          await engine.start();
        });
        const environmentId = await product.environmentOf(apiKey);
        const { erased } = await eraseByThePage(terminal, { externalId: 'acme', environmentId });
        expect(erased).toContain('4 events of acme were erased');
        await product.send(apiKey, [4, 5]);
        await product.expectUsage(apiKey, meterId, 1);
      } finally {
        await product.stop();
      }
    },
  );
});
