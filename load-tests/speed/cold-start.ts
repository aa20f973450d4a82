import { inProduct } from './programs.js';
import type { Measurement } from './section.js';

const STARTS = 3;
const COLD_START_MS_MAX = 6_000;

/** The time from the start of the process to the first accepted event, in a new folder. */
async function coldStartMs(): Promise<number> {
  const startedAt = performance.now();
  return inProduct({}, async ({ url, target }) => {
    const response = await fetch(`${url}/v1/events`, {
      method: 'POST',
      headers: { 'x-api-key': target.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ event_name: 'first', external_customer_id: 'acme' }),
    });
    if (response.status !== 202) throw new Error(`the first event was answered ${response.status}`);
    return performance.now() - startedAt;
  });
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
