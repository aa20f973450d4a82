import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../../../cli/look/api-client.js';
import { messageOf } from '../../../runtime/failure.js';
import { loadCustomer } from '../load/load-identity.js';
import { monthAround, type MixCatalog } from './catalog.js';
import { draw, MIX_CUSTOMERS } from './event-plan.js';
import type { SentBooks } from './sent-books.js';

/** One question of each kind every so many seconds. */
const EVERY_SECONDS = { month: 0.5, total: 2, preview: 10 } as const;
export type Question = keyof typeof EVERY_SECONDS;

export type UsageAnswer = { readonly value: string; readonly data_until: string | null };

/** Asks for usage while events come in, and checks each answer against what was sent by then. */
export class UsageQuestions {
  /** Answers that cannot be right, and questions that failed; at most the first hundred. */
  readonly wrong: string[] = [];
  /** Seconds by which the last answer was behind the clock. */
  behindSeconds = 0;
  #asked = 0;
  #lastTotal = 0;

  constructor(
    private readonly to: {
      readonly api: ApiClient;
      readonly catalog: MixCatalog;
      readonly books: SentBooks;
      readonly onAnswer: (question: Question, milliseconds: number) => void;
    },
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    const ask = { month: this.#month, total: this.#total, preview: this.#preview };
    await Promise.all(
      (Object.keys(EVERY_SECONDS) as Question[]).map(async (question) => {
        while (!signal.aborted) {
          await this.#timed(question, ask[question].bind(this));
          const pause = 1_000 * EVERY_SECONDS[question];
          await delay(pause, undefined, { signal }).catch(() => undefined);
        }
      }),
    );
  }

  async #timed(question: Question, ask: () => Promise<string | null>): Promise<void> {
    this.#asked += 1;
    const startedAt = performance.now();
    try {
      const wrong = await ask();
      this.to.onAnswer(question, performance.now() - startedAt);
      if (wrong !== null) this.#note(`${question}: ${wrong}`);
    } catch (error) {
      this.#note(`${question}: ${messageOf(error)}`);
    }
  }

  #note(text: string): void {
    if (this.wrong.length < 100) this.wrong.push(text);
  }

  #usage(body: object): Promise<UsageAnswer> {
    const meter = { meter_id: this.to.catalog.requestsMeter };
    return this.to.api.post('/events/usage/meter', { ...meter, ...body });
  }

  async #month(): Promise<string | null> {
    const customer = draw(this.#asked, 40, MIX_CUSTOMERS);
    const whose = { external_customer_id: loadCustomer(customer) };
    const { value } = await this.#usage({ ...whose, ...monthAround(Date.now()) });
    const most = this.to.books.requestsOffered;
    const isPossible = Number(value) >= 0 && Number(value) <= most;
    return isPossible ? null : `${value} requests of one customer, ${most} of all were sent`;
  }

  async #total(): Promise<string | null> {
    const { value, data_until: until } = await this.#usage(monthAround(Date.now()));
    const most = this.to.books.requestsOffered;
    const before = this.#lastTotal;
    this.#lastTotal = Number(value);
    if (until !== null) this.behindSeconds = (Date.now() - Date.parse(until)) / 1_000;
    if (this.#lastTotal >= before && this.#lastTotal <= most) return null;
    return `${value} requests of all, ${before} in the last answer, ${most} were sent`;
  }

  async #preview(): Promise<string | null> {
    const { line_items: lines } = await this.to.api.post<{ line_items: readonly unknown[] }>(
      '/invoices/preview',
      { subscription_id: this.to.catalog.subscription },
    );
    return lines.length === 2 ? null : `a preview of ${lines.length} lines`;
  }
}
