import { describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { MortalEngine } from './mortal-engine.js';

/** An engine that takes a moment to start; counts how many run at once. */
function createEngine() {
  const seen = { running: 0, most: 0, starts: 0 };
  const engine = new MortalEngine('engine', async () => {
    seen.starts += 1;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    await delay(5);
    // No process has this id, so that a kill harms nobody.
    return { pid: 2 ** 30, exited: Promise.resolve(), stop: () => Promise.resolve() };
  });
  const kill = async (): Promise<void> => {
    await engine.kill();
    seen.running = 0;
  };
  return { engine, kill, seen };
}

describe('an engine that is killed and started', () => {
  test('starts once for two who want it at the same time', async () => {
    const { engine, seen } = createEngine();
    await Promise.all([engine.start(), engine.start()]);
    expect(seen).toEqual({ running: 1, most: 1, starts: 1 });
  });

  test('is killed after the start that is under way, and starts again', async () => {
    const { engine, kill, seen } = createEngine();
    const starting = engine.start();
    await kill();
    await starting;
    expect(seen.running).toBe(0);
    await engine.start();
    expect(seen).toEqual({ running: 1, most: 1, starts: 2 });
  });
});
