import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSteps, StepFailed } from './steps.mjs';

const done = { code: 0, said: 'nobody reads this' };

/** What a step of 2.5 seconds writes. */
async function written(facts: {
  readonly isTTY: boolean;
  readonly CI?: string;
  readonly outcome?: typeof done;
}): Promise<readonly string[]> {
  const texts: string[] = [];
  const { isTTY, CI, outcome = done } = facts;
  const step = createSteps({ isTTY, write: (text) => texts.push(text) }, { CI });
  const running = step('Compiling', () => {
    return new Promise((resolve) => {
      setTimeout(() => {
        resolve(outcome);
      }, 2_500);
    });
  });
  const ended = running.catch((error: unknown) => texts.push(String(error)));
  await vi.advanceTimersByTimeAsync(10_000);
  await ended;
  return texts;
}

describe('a step before a command', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is one line with its seconds where no terminal is', async () => {
    expect(await written({ isTTY: false })).toEqual(['Compiling …', ' 2.5 s\n']);
  });

  test('counts its seconds at a terminal', async () => {
    expect(await written({ isTTY: true })).toEqual([
      'Compiling …',
      '\rCompiling … 1 s',
      '\rCompiling … 2 s',
      '\rCompiling … 2.5 s\n',
    ]);
  });

  test('does not count in CI, even at a terminal', async () => {
    expect(await written({ isTTY: true, CI: 'true' })).toEqual(['Compiling …', ' 2.5 s\n']);
  });

  test('shows the output of a tool that fails, and has its exit code', async () => {
    const outcome = { code: 2, said: 'a.ts(1,1): error\n' };
    expect(await written({ isTTY: false, outcome })).toEqual([
      'Compiling …',
      ' failed after 2.5 s\n',
      'a.ts(1,1): error\n',
      'Error: a step ended with 2',
    ]);
    expect(new StepFailed(2).exitCode).toBe(2);
  });
});
