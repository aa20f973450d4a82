import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ReleasePrograms } from './release-programs.js';

/** Events of one request, of which the last was sent before. */
const EVENTS = 5;
const PAUSE_MS = 20;
const RANGE = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' } as const;

const madeBody = z.object({ id: z.string() });
const usageBody = z.object({ value: z.string() });
const totalsBody = z.object({
  totals: z.object({
    accepted: z.number(),
    counted: z.number(),
    duplicate: z.number(),
    difference: z.number(),
  }),
});

/** Clients that send events to every ingest and ask every billing-api, all the time. */
export class CustomersOfUpgrade {
  accepted = 0;
  distinct = 0;
  /** Requests that were answered with anything but success. */
  readonly refused: string[] = [];
  /** Answers that no moment of this run can explain. */
  readonly wrong: string[] = [];
  #meterId = '';
  #isEnding = false;
  #working: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly programs: ReleasePrograms,
    private readonly apiKey: string,
  ) {}

  async #ask(url: string, path: string, body?: object): Promise<unknown> {
    const headers = { 'x-api-key': this.apiKey, 'content-type': 'application/json' };
    const request =
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    try {
      const response = await fetch(`${url}${path}`, request);
      const text = await response.text();
      if (response.ok) return JSON.parse(text);
      this.refused.push(`${path} ${response.status} ${text}`);
    } catch (error) {
      this.refused.push(`${path} ${String(error)} ${String((error as Error).cause)}`);
    }
    return null;
  }

  /** A customer, and a meter that counts the calls. */
  async prepare(): Promise<void> {
    const [billingApi = ''] = this.programs.running('billing-api');
    await this.#ask(billingApi, '/v1/customers', { external_id: 'acme', name: 'Acme' });
    const aggregation = { type: 'COUNT' };
    const meter = { name: 'Calls', event_name: 'call', aggregation };
    this.#meterId = madeBody.parse(await this.#ask(billingApi, '/v1/meters', meter)).id;
  }

  begin(): void {
    this.#working = Promise.all([this.#send(), this.#question()]);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#working;
  }

  /** Until so many more events were accepted. @throws Error when they are not within a minute. */
  async sentMore(events: number): Promise<void> {
    const [wanted, deadline] = [this.accepted + events, performance.now() + 60_000];
    while (this.accepted < wanted && performance.now() < deadline) await delay(PAUSE_MS);
    if (this.accepted < wanted) throw new Error(`events are not accepted: ${this.refused.at(-1)}`);
  }

  /** The count that each running billing-api tells. */
  usage(): Promise<readonly number[]> {
    return Promise.all(this.programs.running('billing-api').map((url) => this.#usageAt(url)));
  }

  /** The reconciliation of the hours of this run. */
  async totals(): Promise<z.output<typeof totalsBody>['totals']> {
    const [url = ''] = this.programs.running('billing-api');
    const answer = await this.#ask(url, '/v1/events/reconciliation');
    return totalsBody.parse(answer).totals;
  }

  async #usageAt(url: string): Promise<number> {
    const asked = { meter_id: this.#meterId, external_customer_id: 'acme', ...RANGE };
    const answer = await this.#ask(url, '/v1/events/usage/meter', asked);
    return answer === null ? NaN : Number(usageBody.parse(answer).value);
  }

  async #send(): Promise<void> {
    for (let request = 0; !this.#isEnding; request += 1) {
      const urls = this.programs.running('ingest');
      const first = request * (EVENTS - 1);
      const numbers = Array.from({ length: EVENTS }, (_, index) =>
        // The last one of each request was sent before; of the first one, in itself.
        index === EVENTS - 1 ? Math.max(0, first - 1) : first + index,
      );
      const events = numbers.map((number) => ({
        event_name: 'call',
        external_customer_id: 'acme',
        event_id: `call ${number}`,
        timestamp: `2026-10-${String(1 + (number % 28)).padStart(2, '0')}T10:00:00.000Z`,
        properties: { number },
      }));
      const url = urls[request % urls.length] ?? '';
      const answer = await this.#ask(url, '/v1/events/bulk', { events });
      if (answer === null) continue;
      this.accepted += EVENTS;
      this.distinct += EVENTS - 1;
      await delay(PAUSE_MS);
    }
  }

  async #question(): Promise<void> {
    let least = 0;
    while (!this.#isEnding) {
      for (const url of this.programs.running('billing-api')) {
        const counted = await this.#usageAt(url);
        // What is counted stays counted, whoever is asked; and nothing counts that was not sent.
        const most = this.distinct + EVENTS;
        if (counted < least || counted > most)
          this.wrong.push(`${counted}, not ${least} to ${most}`);
        least = Math.max(least, Number.isNaN(counted) ? 0 : counted);
      }
      await delay(PAUSE_MS);
    }
  }
}
