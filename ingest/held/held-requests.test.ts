import { describe, expect, test } from 'vitest';
import { HeldRequests } from './held-requests.js';

const LIMITS = { produceTimeoutMs: 8_000, silentMs: 15_000 };

/** Requests of a process whose two clocks the test sets. */
function heldBy(limits = LIMITS) {
  const time = { wallMs: 1_000_000, elapsedMs: 0 };
  const held = new HeldRequests(limits, {
    clock: { now: () => time.wallMs },
    elapsedMs: () => time.elapsedMs,
  });
  const pass = (ms: number): void => {
    time.wallMs += ms;
    time.elapsedMs += ms;
  };
  const receive = (onLate = (): void => undefined) => held.hold(held.now(), onLate);
  return { held, time, pass, receive };
}

describe('a report', () => {
  test('says now while nothing is held, else when the oldest held request was received', () => {
    const { held, pass, receive } = heldBy();
    expect(held.report()).toBe(1_000_000);
    pass(10);
    const first = receive();
    pass(10);
    const second = receive();
    pass(10);
    expect(held.report()).toBe(1_000_010);
    expect(held.acknowledge(second)).toBe(true);
    expect(held.report()).toBe(1_000_010);
    expect(held.acknowledge(first)).toBe(true);
    expect(held.report()).toBe(1_000_030);
  });

  test('stays before a request that was given up until it cannot come into the log', () => {
    const { held, pass, receive } = heldBy();
    const request = receive();
    pass(100);
    held.giveUp(request);
    expect([held.report(), held.isIdle]).toEqual([992_100, false]);
    pass(7_899);
    expect(held.report()).toBe(999_999);
    pass(1);
    expect([held.report(), held.isIdle]).toEqual([1_008_000, true]);
  });

  test('never goes back, and no later event is dated before it, when the clock is set back', () => {
    const { held, time, receive } = heldBy();
    expect(held.report()).toBe(1_000_000);
    time.wallMs -= 60_000;
    expect(receive().receivedAtMs).toBe(1_000_000);
    expect(held.report()).toBe(1_000_000);
  });

  test('between the receipt of a request and its hold is a bug', () => {
    const { held, pass } = heldBy();
    const receivedAtMs = held.now();
    pass(1);
    held.report();
    expect(() => held.hold(receivedAtMs, () => undefined)).toThrow('before the last report');
  });
});

describe('a request', () => {
  test.each([
    ['whatever the clock shows', (time: { wallMs: number }) => (time.wallMs -= 20_000)],
    ['also when the machine slept', (time: { elapsedMs: number }) => (time.elapsedMs -= 20_000)],
  ])('that the log acknowledges too late is not accepted, %s', (_when, disturb) => {
    const { held, time, pass, receive } = heldBy();
    const [inTime, late] = [receive(), receive()];
    pass(8_000);
    expect(held.acknowledge(inTime)).toBe(true);
    pass(1);
    disturb(time);
    expect(held.acknowledge(late)).toBe(false);
  });

  test('is given up and told so when its time is over, and not accepted after that', () => {
    const { held, pass, receive } = heldBy();
    const told: string[] = [];
    const first = receive(() => told.push('first'));
    pass(4_000);
    receive(() => told.push('second'));
    pass(4_000);
    held.giveUpLate();
    expect([told, held.isHolding]).toEqual([['first'], true]);
    expect(held.acknowledge(first)).toBe(false);
    pass(4_000);
    held.giveUpLate();
    expect([told, held.isHolding]).toEqual([['first', 'second'], false]);
  });
});

describe('events are accepted', () => {
  test('from the first report that is taken until none was for a while, from when it was sent', () => {
    const { held, pass } = heldBy();
    expect([held.isReporting, held.silentForMs]).toEqual([false, Number.POSITIVE_INFINITY]);
    const sent = held.moment();
    pass(2_000);
    held.noteTaken(sent);
    pass(13_000);
    expect([held.isReporting, held.silentForMs]).toEqual([true, 15_000]);
    pass(1);
    expect(held.isReporting).toBe(false);
    held.noteTaken(held.moment());
    expect(held.isReporting).toBe(true);
  });

  test('no more after the machine slept, until a report is taken', () => {
    const { held, time } = heldBy();
    held.noteTaken(held.moment());
    time.wallMs += 15_001;
    expect(held.isReporting).toBe(false);
  });
});
