import { parseArgs } from 'node:util';
import { atRate, saturate, type Load, type Outcome, type Target } from './drive.js';
import { startYardstick } from './start-yardstick.js';

/**
 * P1 and P2 of the performance targets against a running server, with the bare node:http yardstick
 * in the same run and the client in this process. Speaks HTTP only. The server must allow the rate
 * (MINUTEBOOK_INGEST_RATE) and serve /metrics, which the count check reads.
 *
 *   node dist/load-tests/ingest-rate/measure.js --url http://127.0.0.1:8080 --api-key sk_... --seconds 8
 */
const SINGLE = { path: '/v1/events', eventsPerRequest: 1, connections: 256 } as const;
const BULK = { path: '/v1/events/bulk', eventsPerRequest: 500, connections: 16 } as const;
const WARM_UP_SECONDS = 2;

/** Accepted events as the server counts them. */
async function acceptedByServer(url: URL): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const value = /^minutebook_events_accepted_total (\S+)$/m.exec(text)?.[1];
  if (value === undefined) throw new Error('the server shows no count of accepted events');
  return Number(value);
}

function line(name: string, outcome: Outcome): void {
  const percentile = (value: number): string =>
    (outcome.latencyMicros.getValueAtPercentile(value) / 1000).toFixed(1);
  const rates = `${outcome.requestsPerSecond.toFixed(0)} req/s ${outcome.eventsPerSecond.toFixed(0)} ev/s`;
  const latency = `p50 ${percentile(50)} p99 ${percentile(99)} max ${percentile(100)} ms`;
  console.log(
    `${name.padEnd(26)} ${rates.padEnd(30)} ${latency} ${JSON.stringify(outcome.statuses)}`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:8080' },
      'api-key': { type: 'string', default: '' },
      seconds: { type: 'string', default: '8' },
    },
  });
  const url = new URL(values.url);
  const target = { port: Number(url.port), host: url.hostname, apiKey: values['api-key'] };
  const seconds = Number(values.seconds);
  const yardstick = await startYardstick();
  const before = await acceptedByServer(url);
  let accepted = 0;
  const run = async (name: string, at: Target, load: Omit<Load, 'seconds'>): Promise<Outcome> => {
    const warmUp = await saturate(at, { ...load, seconds: WARM_UP_SECONDS });
    const outcome = await saturate(at, { ...load, seconds });
    if (at === target) accepted += warmUp.acceptedEvents + outcome.acceptedEvents;
    line(name, outcome);
    return outcome;
  };
  const bareSingle = await run('yardstick, single', yardstick.target, SINGLE);
  const single = await run('single', target, SINGLE);
  const requestsPerSecond = Math.floor(bareSingle.requestsPerSecond * 0.6 * 0.5);
  const paced = await atRate(target, { ...SINGLE, seconds, requestsPerSecond });
  accepted += paced.acceptedEvents;
  line('single, paced', paced);
  const bareBulk = await run('yardstick, bulk', yardstick.target, BULK);
  const bulk = await run('bulk', target, BULK);
  yardstick.process.stdin?.end();
  const counted = (await acceptedByServer(url)) - before;
  console.log(`count check: answered 202 ${accepted}, counted by the server ${counted}`);
  if (counted !== accepted) process.exitCode = 1;
  console.log(
    `P1 single / yardstick      ${(single.requestsPerSecond / bareSingle.requestsPerSecond).toFixed(2)} (target 0.60)`,
  );
  console.log(
    `P1 p99 at ${requestsPerSecond} req/s    ${(paced.latencyMicros.getValueAtPercentile(99) / 1000).toFixed(1)} ms (target 25)`,
  );
  console.log(
    `P2 bulk / single in events ${(bulk.eventsPerSecond / single.eventsPerSecond).toFixed(2)} (target 6)`,
  );
  console.log(
    `P2 bulk                    ${bulk.eventsPerSecond.toFixed(0)} events/s (target 150000); yardstick ${bareBulk.eventsPerSecond.toFixed(0)}`,
  );
}

await main();
