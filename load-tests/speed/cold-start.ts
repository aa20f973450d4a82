import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from './programs.js';
import type { Measurement } from './section.js';

const STARTS = 3;
const COLD_START_MS_MAX = 6_000;

/** The time from the start of the process to the first accepted event, in a new folder. */
async function coldStartMs(): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-speed-'));
  const startedAt = performance.now();
  const product = await startProduct(directory);
  try {
    const response = await fetch(`${product.url}/v1/events`, {
      method: 'POST',
      headers: { 'x-api-key': product.target.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ event_name: 'first', external_customer_id: 'acme' }),
    });
    if (response.status !== 202) throw new Error(`the first event was answered ${response.status}`);
    return performance.now() - startedAt;
  } finally {
    await product.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** P12: everything embedded, after install. */
export const measureColdStart: Measurement = async (_options, progress) => {
  const times: number[] = [];
  for (let run = 0; run < STARTS; run += 1) {
    progress(run / STARTS, `start ${run + 1} of ${STARTS}`);
    times.push(await coldStartMs());
  }
  const worst = Math.max(...times);
  return {
    title: 'Cold start',
    findings: [
      {
        id: 'P12',
        what: `first accepted event, worst of ${STARTS}`,
        value: `${(worst / 1000).toFixed(2)} s`,
        target: '≤ 6 s',
        isReached: worst <= COLD_START_MS_MAX,
      },
    ],
    plots: [],
    notes: [
      `Each start makes its databases anew: ${times.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ')}.`,
    ],
  };
};
