import { expect, test } from 'vitest';
import { makeMetersMeanwhile } from './make-meters-meanwhile.js';

// A minute, at the rate that docs/architecture.md 3.4 is about.
test('ten meters made a second for a minute leave every lag below 5 s at 20,000 events/s', async () => {
  const observed = await makeMetersMeanwhile({
    seconds: 60,
    eventsPerSecond: 20_000,
    metersPerSecond: 10,
    metersBefore: 10_000,
  });
  process.stdout.write(`${JSON.stringify(observed)}\n`);
  expect(observed.counted).toEqual(observed.expected);
  expect(observed.lagSecondsMax).toBeLessThan(5);
});
