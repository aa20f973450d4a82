import { expect, test } from 'vitest';
import { makeMetersMeanwhile } from './make-meters-meanwhile.js';

test('ten meters made a second leave the lag of every tenant below 5 s', async () => {
  const observed = await makeMetersMeanwhile({
    seconds: 12,
    eventsPerSecond: 2_000,
    metersPerSecond: 10,
    metersBefore: 10_000,
    log: {},
  });
  process.stdout.write(`greatest lag: ${observed.lagSecondsMax.toFixed(2)} s\n`);
  expect(observed.counted).toEqual(observed.expected);
  expect(observed.lagSecondsMax).toBeLessThan(5);
});
