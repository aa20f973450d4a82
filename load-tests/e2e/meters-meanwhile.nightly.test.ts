import { expect, test } from 'vitest';
import { makeMetersMeanwhile } from './make-meters-meanwhile.js';

// On two cores that other programs use as well, 20,000 events/s left a lag of more than a minute;
// load, engines and aggregator share these cores.
test('ten meters made a second for a minute leave every lag below 5 s at 4,000 events/s', async () => {
  const observed = await makeMetersMeanwhile({
    seconds: 60,
    eventsPerSecond: 4_000,
    metersPerSecond: 10,
    metersBefore: 10_000,
  });
  process.stdout.write(`${JSON.stringify(observed)}\n`);
  expect(observed.counted).toEqual(observed.expected);
  expect(observed.lagSecondsMax).toBeLessThan(5);
});
