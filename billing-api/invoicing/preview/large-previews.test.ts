import { describe, expect, it } from 'vitest';
import { QueryTooLarge } from '../../../clickhouse/request-queries.js';
import { createLargePreviews, type PreviewOutcome } from './large-previews.js';

const URLS = { databaseUrl: 'postgres://x', clickHouseUrl: 'http://x' };
const ACTOR = { kind: 'operator', name: 'test' } as const;
const NEVER = new AbortController().signal;

const previewOf = (tenantId: string) => ({
  occasion: { environment: { tenantId, environmentId: 'env' }, actor: ACTOR },
  body: { subscription_id: 'subs' },
  dataUntil: null,
});

/** A thread with this text. */
const threadOf = (text: string): URL =>
  new URL(
    `data:text/javascript,${encodeURIComponent(
      `import { parentPort, workerData } from 'node:worker_threads'; ${text}`,
    )}`,
  );

const answering = (outcome: PreviewOutcome): URL =>
  threadOf(`parentPort.postMessage(${JSON.stringify(outcome)});`);

const FOREVER = 'setInterval(() => undefined, 1000);';

describe('a large preview', () => {
  it('is answered, or refused, as its thread says', async () => {
    const refusal = { code: 'not_found', message: 'subscription subs does not exist' } as const;
    const refusing = answering({ kind: 'refusal', ...refusal, details: null });
    const refused = createLargePreviews(refusing, URLS)(previewOf('a'), NEVER);
    expect(await refused).toMatchObject(refusal);
    const tooLarge = createLargePreviews(answering({ kind: 'too-large' }), URLS);
    await expect(tooLarge(previewOf('a'), NEVER)).rejects.toThrow(QueryTooLarge);
    const facts = { dependency: 'clickhouse', isRetryable: true } as const;
    const down = answering({ kind: 'outage', message: 'down', ...facts });
    const failing = createLargePreviews(down, URLS)(previewOf('a'), NEVER);
    await expect(failing).rejects.toMatchObject({ name: 'DependencyError', ...facts });
  });

  it('fails when its thread fails or ends without an answer', async () => {
    const broken = createLargePreviews(threadOf(`throw new Error('broken');`), URLS);
    await expect(broken(previewOf('a'), NEVER)).rejects.toThrow('broken');
    const silent = createLargePreviews(threadOf(''), URLS);
    await expect(silent(previewOf('a'), NEVER)).rejects.toThrow('ended without an answer');
  });

  it('is refused when it needs more memory than it may take, and the program goes on', async () => {
    const filling = threadOf('const all = []; for (;;) all.push({ at: [all.length] });');
    const refused = await createLargePreviews(filling, URLS, 16)(previewOf('a'), NEVER);
    expect(refused).toMatchObject({ code: 'validation_error' });
  });

  it('ends when nobody waits for it, and lets the next one begin', async () => {
    const thread = threadOf(`
      const { tenantId } = workerData.occasion.environment;
      const details = null, code = 'not_found';
      if (tenantId === 'b') parentPort.postMessage({ kind: 'refusal', code, message: 'b', details });
      else ${FOREVER}`);
    const large = createLargePreviews(thread, URLS);
    const leaving = new AbortController();
    const left = large(previewOf('a'), leaving.signal);
    const next = large(previewOf('b'), NEVER);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(await next).toMatchObject({ message: 'b' });
  });
});
