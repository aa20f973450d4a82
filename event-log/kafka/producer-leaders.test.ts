import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DependencyError } from '../../runtime/failure.js';
import {
  createSteeredProducer,
  INTERVAL_MS,
  LONGEST_MS,
  pass,
  RETRY_MS,
  soon,
  stateOf,
  TIMEOUT_MS,
} from '../testing/steered-producer.js';
import type { Leader, ProduceCluster } from './produce-cluster.js';

/** Leaders that are older than this are asked for anew. */
const AGE_MAX_MS = 60_000;
const LEADERS: readonly Leader[] = ['a', 'a', 'b', 'b'];

const lasting = (message: string): DependencyError =>
  new DependencyError(message, { dependency: 'event-log', isRetryable: false });

/** Answers that the test can change; it sees when they were asked for. */
function createAsked(answer: ProduceCluster['leaders']) {
  const asked = { atMs: [] as number[], answer };
  const leaders: ProduceCluster['leaders'] = () => {
    asked.atMs.push(performance.now());
    return asked.answer();
  };
  return { asked, leaders };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a leader that moves', () => {
  test('is asked for again, and the new one gets the same numbers', async () => {
    const { append, requests, lines, lead } = createSteeredProducer();
    const appended = append(0, ['x']);
    await soon();
    lead(['b', 'a', 'b', 'b']);
    requests[0]?.answer({ 0: 6 });
    await pass(RETRY_MS + INTERVAL_MS);
    requests[1]?.answer();
    await appended;
    expect(lines()).toEqual(['a 1: 0/0=x', 'b 1: 0/0=x']);
  });

  test('gets what is under way to one that hangs, whose connection ends at once', async () => {
    const { append, requests, lines, lead, disconnected } = createSteeredProducer();
    const hung = append(0, ['hung']);
    const beside = append(1, ['y']);
    const telling = append(2, ['z']);
    await soon();
    lead(['b', 'a', 'b', 'b']);
    requests.find(({ at }) => at === 'b')?.answer({ 2: 6 });
    expect(disconnected).toEqual([]);
    await pass(RETRY_MS);
    expect(disconnected).toContain('a');
    await pass(RETRY_MS + 3 * INTERVAL_MS);
    for (const { answer } of requests) answer();
    await pass(INTERVAL_MS);
    for (const { answer } of requests) answer();
    await Promise.all([hung, beside, telling]);
    const [first] = lines();
    expect(first).toBe('a 1: 0/0=hung 1/0=y');
    expect(lines().filter((line) => /^b 1: .*0\/0=hung/.test(line))).toHaveLength(1);
    expect(lines()).toContain('a 1: 1/0=y');
    expect(disconnected).not.toContain('b');
  });

  test('when nobody knows where to, ends in time the connection that hangs, and no other', async () => {
    const { append, requests, lead, disconnected } = createSteeredProducer();
    const hung = append(0, ['hung']);
    const telling = append(2, ['z']);
    await soon();
    lead([null, 'a', 'b', 'b']);
    requests.find(({ at }) => at === 'b')?.answer({ 2: 6 });
    await pass(2 * RETRY_MS);
    requests.at(-1)?.answer();
    await telling;
    expect(disconnected).toEqual([]);
    await pass(LONGEST_MS);
    expect(await stateOf(hung)).toBe('failed');
    expect(new Set(disconnected)).toEqual(new Set(['a']));
  });

  test('leaves the connections of others, whose records are stored in time', async () => {
    const { append, requests, lead, disconnected } = createSteeredProducer();
    const hung = append(0, ['hung']);
    const telling = append(2, ['z']);
    await soon();
    lead(['b', 'a', 'b', 'b']);
    requests.find(({ at }) => at === 'b')?.answer({ 2: 6 });
    await pass(TIMEOUT_MS / 2);
    requests.at(-1)?.answer();
    await pass(INTERVAL_MS);
    requests.at(-1)?.answer();
    await Promise.all([hung, telling]);
    const healthy = append(3, ['healthy']);
    await pass(INTERVAL_MS);
    requests.at(-1)?.answer();
    await healthy;
    await pass(LONGEST_MS);
    expect(disconnected).not.toContain('b');
  });

  test('is waited for while there is none', async () => {
    const { append, requests, lead } = createSteeredProducer();
    lead([null, 'a', 'b', 'b']);
    const appends = [append(0, ['x']), append(1, ['y'])];
    await pass(RETRY_MS);
    requests[0]?.answer();
    await appends[1];
    lead(['b', 'a', 'b', 'b']);
    await pass(2 * RETRY_MS);
    requests[1]?.answer();
    await appends[0];
  });
});

describe('leaders', () => {
  test.for([
    ['no broker answers', () => Promise.reject(new Error('refused')), {}],
    ['partitions have none', () => Promise.resolve([null, null, null, null]), {}],
    ['they do not lead', () => Promise.resolve(LEADERS), { 0: 6 }],
    ['they do not know the topic', () => Promise.resolve(LEADERS), { 0: 3 }],
  ] as const)('are asked for no more often than they may when %s', async ([, answer, codes]) => {
    const { asked, leaders } = createAsked(answer);
    const { append, requests } = createSteeredProducer({ leaders });
    void append(0, ['x']);
    void append(2, ['y']);
    for (let ms = 0; ms < TIMEOUT_MS; ms += 1) {
      await pass(1);
      for (const { answer: answerOne } of requests) answerOne(codes);
    }
    const gaps = asked.atMs.slice(1).map((atMs, index) => atMs - (asked.atMs[index] ?? 0));
    expect(gaps.length).toBeGreaterThan(TIMEOUT_MS / RETRY_MS / 3);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(RETRY_MS);
  });

  test('that are old are asked for no more often when no broker answers', async () => {
    const { asked, leaders } = createAsked(() => Promise.resolve(LEADERS));
    const { append, answerAfter } = createSteeredProducer({ leaders });
    answerAfter(1);
    const first = append(0, ['x']);
    await pass(AGE_MAX_MS + RETRY_MS);
    await first;
    expect(asked.atMs).toHaveLength(1);
    asked.answer = () =>
      new Promise((_resolve, reject) => setTimeout(() => reject(new Error('refused')), 1));
    for (let round = 0; round < 50; round += 1) {
      const next = append(0, ['y']);
      await pass(10);
      // What is known goes on to be used: a broker that leads may answer when others do not.
      await next;
    }
    expect(asked.atMs.length).toBeGreaterThan(10);
    expect(asked.atMs.length).toBeLessThanOrEqual(1 + 500 / RETRY_MS);
  });

  test('of a login that is refused fail a delivery at once, and say why', async () => {
    const refused = lasting('the login is refused');
    const { append } = createSteeredProducer({ leaders: () => Promise.reject(refused) });
    const appends = [append(0, ['x']), append(2, ['y'])];
    await pass(2 * RETRY_MS);
    for (const one of appends) {
      expect(await stateOf(one)).toBe('failed');
      await expect(one).rejects.toBe(refused);
    }
  });

  test('of another log get nothing', async () => {
    const { asked, leaders } = createAsked(() => Promise.resolve(LEADERS));
    const { append, answerAfter, requests } = createSteeredProducer({ leaders });
    answerAfter(2);
    const first = append(0, ['x']);
    await pass(AGE_MAX_MS + RETRY_MS);
    await first;
    asked.answer = () =>
      new Promise((_resolve, reject) => setTimeout(() => reject(lasting('another log')), 10));
    void append(0, ['before they were asked again']);
    await pass(50);
    const sent = requests.length;
    for (const partition of [0, 1, 2, 0]) {
      const appended = append(partition, ['y']);
      await pass(50);
      expect(await stateOf(appended)).toBe('failed');
      await expect(appended).rejects.toThrow('another log');
    }
    expect(requests).toHaveLength(sent);
  });

  test.for([
    ['does not know the topic', { 0: 3 }, {}],
    ['answers with an offset that it had before', {}, { 0: 0 }],
  ] as const)('get nothing after one %s, until they are told again', async (told) => {
    const [, codes, offsets] = told;
    const { asked, leaders } = createAsked(() => Promise.resolve(LEADERS));
    const { append, requests } = createSteeredProducer({ leaders });
    const stored = append(0, ['stored']);
    await soon();
    requests[0]?.answer();
    await stored;
    void append(0, ['x']);
    await pass(RETRY_MS);
    let tell = (): void => undefined;
    asked.answer = () => new Promise((resolve) => (tell = () => resolve(LEADERS)));
    requests[1]?.answer(codes, offsets);
    const others = [append(1, ['y']), append(2, ['z'])];
    await pass(TIMEOUT_MS / 2);
    expect(requests).toHaveLength(2);
    tell();
    await pass(INTERVAL_MS);
    for (const { answer } of requests) answer();
    await Promise.all(others);
  });

  test('that were forgotten are not taken from an answer to a question of before', async () => {
    let answerMs = 0;
    const leaders = (): Promise<readonly Leader[]> =>
      new Promise((resolve) => setTimeout(() => resolve(LEADERS), answerMs));
    const { append, requests } = createSteeredProducer({ leaders });
    const lastTo = (leader: Leader) => requests.filter(({ at }) => at === leader).at(-1);
    const first = append(0, ['of the log']);
    await soon();
    await soon();
    lastTo('a')?.answer();
    await first;
    await pass(5 * RETRY_MS);
    answerMs = RETRY_MS + 5;
    const appended = append(0, ['x']);
    void append(2, ['y']);
    await soon();
    await soon();
    lastTo('b')?.answer({ 2: 6 });
    await pass(5);
    lastTo('a')?.answer({}, { 0: 0 });
    answerMs = 10 * RETRY_MS;
    await pass(3 * RETRY_MS);
    lastTo('a')?.answer({}, { 0: 1 });
    await pass(2);
    expect(await stateOf(appended)).toBe('open');
  });

  test('are asked for again after a delivery that ended without an answer', async () => {
    const { append, lead, lines } = createSteeredProducer();
    void append(0, ['1']);
    await soon();
    lead(['b', 'a', 'b', 'b']);
    await pass(LONGEST_MS);
    for (const value of ['2', '3']) {
      void append(0, [value]);
      await pass(LONGEST_MS);
    }
    expect(lines().map((line) => line.slice(0, 1))).toEqual(['a', 'b', 'b']);
  });
});
