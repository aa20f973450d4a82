import { setTimeout as delay } from 'node:timers/promises';
import { ApiClient, UnexpectedAnswer } from '../../../cli/look/api-client.js';
import type { Stack } from '../../../cli/stack/stack.js';
import type { SeededRandom } from '../../harness/seeded-random.js';
import { Model, type ModelEvent, type ModelUsage } from './model.js';

const START_MS = Date.UTC(2026, 0, 1);
const DAYS = 20;
const DAY_MS = 86_400_000;
const CUSTOMERS = ['acme', 'other', 'third'];
const TAGS = ['a', 'b', 'c', 'd'];
const SETTLE_MS = 240_000;
const RETRY_MS = 240_000;

const iso = (instant: number): string => new Date(instant).toISOString();

type Correction = {
  readonly id: string;
  readonly correction_status: string;
  readonly token: string | null;
  readonly error: string | null;
};
type Item = { readonly meter_id: string; readonly total_value: string };
type Totals = Readonly<Record<'accepted' | 'withdrawn' | 'difference' | 'pending', number>>;

/** Repeats what a killed program did not answer; a refusal is an answer. */
async function persist<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const deadline = Date.now() + RETRY_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isRefused = error instanceof UnexpectedAnswer && error.status < 500;
      if (isRefused || Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** Walks through random steps, and compares what is counted after each of them. */
export class CorrectionWalk {
  readonly #api: ApiClient;
  readonly #random: SeededRandom;
  readonly #model = new Model();
  /** Corrections in force, with their numbers in the model: later ones are reverted first. */
  readonly #inForce: { readonly id: string; readonly number: number }[] = [];
  #meters: readonly string[] = [];
  #events = 0;
  /** What was done, for the message of a failure. */
  readonly done: string[] = [];

  constructor(stack: Pick<Stack, 'url' | 'apiKey'>, random: SeededRandom) {
    this.#api = new ApiClient(`${stack.url}/v1`, stack.apiKey);
    this.#random = random;
  }

  async begin(): Promise<void> {
    for (const external_id of CUSTOMERS) await this.#api.post('/customers', { external_id });
    const types = [
      { type: 'COUNT' },
      { type: 'SUM', field: 'v' },
      { type: 'MAX', field: 'v' },
      { type: 'COUNT_UNIQUE', field: 'tag' },
    ];
    const ids: string[] = [];
    for (const aggregation of types) {
      const meter = { name: aggregation.type, event_name: 'call', aggregation };
      ids.push((await this.#api.post<{ readonly id: string }>('/meters', meter)).id);
    }
    this.#meters = ids;
  }

  #newEvent(): ModelEvent {
    const { pick, below, between } = this.#random;
    const atMs = START_MS + below(DAYS * 1_440) * 60_000 + pick([0, 500, 29_999, 30_000, 59_999]);
    return { customer: pick(CUSTOMERS), atMs, value: between(0, 50), tag: pick(TAGS) };
  }

  #newId(): string {
    this.#events += 1;
    return `event-${this.#events}`;
  }

  static #body(event_id: string, { customer, atMs, value, tag }: ModelEvent) {
    const properties = { v: String(value), tag };
    return {
      event_id,
      event_name: 'call',
      external_customer_id: customer,
      timestamp: iso(atMs),
      properties,
    };
  }

  /** Events of any time; some of them twice, and some with an id that was sent before. */
  async #send(): Promise<void> {
    const events = Array.from({ length: this.#random.between(1, 12) }, () => {
      const isRepeat = this.#events > 0 && this.#random.chance(0.15);
      const id = isRepeat ? `event-${this.#random.between(1, this.#events)}` : this.#newId();
      return [id, this.#newEvent()] as const;
    });
    for (const [id, event] of events) this.#model.send(id, event);
    const body = { events: events.map(([id, event]) => CorrectionWalk.#body(id, event)) };
    await persist(() => this.#api.post('/events/bulk', body));
  }

  #some(): readonly string[] {
    const ids = this.#model.ids();
    const wanted = Math.min(ids.length, this.#random.between(1, 4));
    const chosen = new Set<string>();
    while (chosen.size < wanted) chosen.add(this.#random.pick(ids));
    return [...chosen];
  }

  async #prepared(body: object): Promise<Correction> {
    const { id } = await persist(() =>
      this.#api.post<Correction>('/corrections', { reason: 'walk', ...body }),
    );
    return this.#awaited(id, ['preparing']);
  }

  async #awaited(id: string, passing: readonly string[]): Promise<Correction> {
    const deadline = Date.now() + SETTLE_MS;
    for (;;) {
      const found = await persist(() => this.#api.get<Correction>(`/corrections/${id}`));
      if (!passing.includes(found.correction_status)) return found;
      if (Date.now() > deadline)
        throw new Error(`${id} is ${found.correction_status} for too long`);
      await delay(50);
    }
  }

  async #apply(body: object, effects: Parameters<Model['apply']>[0]): Promise<void> {
    const { id, token, correction_status: status, error } = await this.#prepared(body);
    if (status !== 'ready') throw new Error(`a correction failed: ${error}`);
    // Some previews are looked at only.
    if (this.#random.chance(0.15)) return;
    await persist(async () => {
      const now = await this.#api.get<Correction>(`/corrections/${id}`);
      if (now.correction_status === 'ready') {
        await this.#api.post(`/corrections/${id}/apply`, { token });
      }
    });
    this.#inForce.push({ id, number: this.#model.apply(effects) });
  }

  async #withdraw(): Promise<void> {
    const ids = this.#some();
    if (ids.length === 0) return;
    const events = ids.map((event_id) => ({ event_id }));
    const effects = new Map(ids.map((id) => [id, 'withdrawn'] as const));
    await this.#apply({ type: 'withdraw', events }, effects);
  }

  #counted(id: string): ModelEvent {
    const event = this.#model.counted(id);
    if (event === undefined || event === 'withdrawn') throw new Error(`${id} does not count`);
    return event;
  }

  async #amend(): Promise<void> {
    const ids = this.#some();
    if (ids.length === 0) return;
    const { customer, atMs, value } = this.#newEvent();
    const kind = this.#random.below(3);
    const changed = (event: ModelEvent): ModelEvent =>
      [
        { ...event, value },
        { ...event, atMs },
        { ...event, customer },
      ][kind] ?? event;
    const change = [
      { properties: { v: String(value) } },
      { timestamp: iso(atMs) },
      { external_customer_id: customer },
    ][kind];
    const events = ids.map((event_id) => ({ event_id, ...change }));
    const effects = new Map(ids.map((id) => [id, changed(this.#counted(id))] as const));
    await this.#apply({ type: 'amend', events }, effects);
  }

  /** All events of a customer in some days, by a filter. */
  async #byFilter(): Promise<void> {
    const { between, pick, chance } = this.#random;
    const from = START_MS + between(0, DAYS - 1) * DAY_MS;
    const to = from + between(1, 3) * DAY_MS + pick([0, 30_000]);
    const customer = pick(CUSTOMERS);
    const tag = pick(TAGS);
    const found = this.#model.ids().filter((id) => {
      const event = this.#counted(id);
      const isIn = event.atMs >= from && event.atMs < to;
      return isIn && event.customer === customer && event.tag === tag;
    });
    if (found.length === 0) return;
    const filter = {
      event_name: 'call',
      start_time: iso(from),
      end_time: iso(to),
      external_customer_id: customer,
      property_filters: { tag: [tag] },
    };
    if (chance(0.5)) {
      const effects = new Map(found.map((id) => [id, 'withdrawn'] as const));
      return this.#apply({ type: 'withdraw', filter }, effects);
    }
    const effects = new Map(found.map((id) => [id, { ...this.#counted(id), value: 7 }] as const));
    return this.#apply({ type: 'amend', filter, change: { properties: { v: '7' } } }, effects);
  }

  /** Applied at once: reverted, its events do not count, and their ids stay taken. */
  async #backfill(): Promise<void> {
    const added = Array.from({ length: this.#random.between(1, 5) }, () => {
      return [this.#newId(), this.#newEvent()] as const;
    });
    const events = added.map(([id, event]) => CorrectionWalk.#body(id, event));
    const { id, token } = await this.#prepared({ type: 'backfill', events });
    await persist(async () => {
      const now = await this.#api.get<Correction>(`/corrections/${id}`);
      if (now.correction_status === 'ready') {
        await this.#api.post(`/corrections/${id}/apply`, { token });
      }
    });
    for (const [eventId, event] of added) this.#model.send(eventId, event);
    if (this.#random.chance(0.5)) return;
    await this.settled();
    await persist(async () => {
      const now = await this.#api.get<Correction>(`/corrections/${id}`);
      if (now.correction_status === 'applied') {
        await this.#api.post(`/corrections/${id}/revert`, { reason: 'walk' });
      }
    });
    await this.#awaited(id, ['reverting']);
    this.#model.apply(new Map(added.map(([eventId]) => [eventId, 'withdrawn'] as const)));
  }

  async #revert(): Promise<void> {
    const last = this.#inForce.pop();
    if (last === undefined) return;
    await persist(async () => {
      const now = await this.#api.get<Correction>(`/corrections/${last.id}`);
      if (now.correction_status === 'applied') {
        await this.#api.post(`/corrections/${last.id}/revert`, { reason: 'walk' });
      }
    });
    this.#model.revert(last.number);
  }

  async step(): Promise<void> {
    const steps = {
      send: () => this.#send(),
      withdraw: () => this.#withdraw(),
      amend: () => this.#amend(),
      filter: () => this.#byFilter(),
      backfill: () => this.#backfill(),
      revert: () => this.#revert(),
    };
    const names = ['send', 'send', 'withdraw', 'amend', 'amend', 'filter', 'backfill', 'revert'];
    const name = this.#random.pick(names) as keyof typeof steps;
    this.done.push(name);
    await steps[name]();
    await this.settled();
  }

  async #usage(customer: string, fromMs: number, toMs: number): Promise<ModelUsage> {
    const { items } = await persist(() =>
      this.#api.post<{ readonly items: readonly Item[] }>('/meter-usage/query', {
        meter_ids: this.#meters,
        external_customer_ids: [customer],
        start_time: iso(fromMs),
        end_time: iso(toMs),
      }),
    );
    const [count, sum, max, tags] = this.#meters.map((id) =>
      Number(items.find((item) => item.meter_id === id)?.total_value),
    );
    return { count: count ?? -1, sum: sum ?? -1, max: max ?? -1, tags: tags ?? -1 };
  }

  /** What differs from the model: in the whole time, and in a window that cuts minutes. */
  async #differences(): Promise<readonly string[]> {
    const { between, pick } = this.#random;
    const cut = START_MS + between(0, DAYS * 1_440) * 60_000 + pick([0, 29_999, 30_000]);
    const whole = [START_MS, START_MS + DAYS * DAY_MS] as const;
    const windows = [whole, [cut, cut + between(1, 5) * DAY_MS] as const];
    const found: string[] = [];
    for (const customer of CUSTOMERS) {
      for (const [from, to] of windows) {
        const is = JSON.stringify(await this.#usage(customer, from, to));
        const wanted = JSON.stringify(this.#model.usage(customer, from, to));
        if (is !== wanted) found.push(`${customer} ${iso(from)} ${iso(to)}: ${is}, not ${wanted}`);
      }
    }
    return found;
  }

  /** Waits until all that was sent is counted, and counts as the model says. @throws otherwise. */
  async settled(): Promise<void> {
    const deadline = Date.now() + SETTLE_MS;
    for (;;) {
      const differences = await this.#differences();
      if (differences.length === 0) return;
      if (Date.now() > deadline) throw new Error(`${this.done.join(' ')}: ${differences[0]}`);
      await delay(100);
    }
  }

  /** The books of the last hours. */
  async totals(): Promise<Totals> {
    const { totals } = await persist(() =>
      this.#api.get<{ readonly totals: Totals }>('/events/reconciliation'),
    );
    return totals;
  }
}
