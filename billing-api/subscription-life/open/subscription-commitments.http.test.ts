import { describe, expect } from 'vitest';
import { expectRefusals, makeSubscription, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';

/** A plan with a price of a meter with buckets, a price of one without, and a fixed price. */
async function catalogOf(api: BillingUnderTest, bucketSize = 'HOUR') {
  const { meterId, planId, priceId, customerId } = await makeSubscription(api);
  const meter = await api.make('/v1/meters', {
    name: 'Load',
    event_name: 'load',
    aggregation: { type: 'MAX', field: 'n', bucket_size: bucketSize },
  });
  const common = { entity_id: planId, currency: 'usd', amount: '1' };
  const load = await api.make('/v1/prices', {
    ...common,
    meter_id: meter.id,
    display_name: 'Load',
  });
  const seats = await api.make('/v1/prices', common);
  const body = {
    customer_id: customerId,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
  };
  return {
    body,
    meterId,
    loadMeterId: meter.id,
    callsId: priceId,
    loadId: load.id,
    seatsId: seats.id,
  };
}

const BUCKET = {
  start: { hour: 9 },
  end: { hour: 17 },
  commitment_type: 'amount',
  commitment_value: '4',
  overage_factor: 1.5,
  true_up_enabled: true,
  price: { currency: 'usd', amount: '0.80' },
};

describe('POST /subscriptions with a commitment of the subscription', () => {
  test('keeps it, and refuses what breaks a rule', async ({ api }) => {
    const { body, callsId } = await catalogOf(api);
    const commitment = {
      commitment_amount: '1200.50',
      overage_factor: '1.20',
      commitment_duration: 'ANNUAL',
      enable_true_up: true,
    };
    const made = await api.make('/v1/subscriptions', { ...body, ...commitment });
    expect(made).toMatchObject({
      ...commitment,
      commitment_amount: '1200.5',
      overage_factor: '1.2',
    });
    const { body: read } = await api.call('GET', `/v1/subscriptions/${made.id}`);
    expect(read).toEqual({ ...made, warnings: undefined });
    const line = { commitment_amount: '5', commitment_overage_factor: '2' };
    await expectRefusals(api, '/v1/subscriptions', [
      ['a factor below 1', { ...body, ...commitment, overage_factor: '0.5' }, 'overage_factor'],
      ['a factor alone', { ...body, overage_factor: '2' }, 'overage_factor'],
      ['an amount alone', { ...body, commitment_amount: '2' }, 'overage_factor'],
      [
        'finer than cents',
        { ...body, ...commitment, commitment_amount: '0.001' },
        'commitment_amount',
      ],
      [
        'a shorter duration',
        { ...body, ...commitment, commitment_duration: 'DAILY' },
        'commitment_duration',
      ],
      [
        'a duration of ONETIME',
        { ...body, ...commitment, commitment_duration: 'ONETIME' },
        'commitment_duration',
      ],
      [
        'commitments on both levels',
        { ...body, ...commitment, line_item_commitments: { [callsId]: line } },
        'line_item_commitments',
      ],
    ]);
  });
});

describe('POST /subscriptions with commitments of line items', () => {
  test('keeps amounts and quantities on the lines of the named prices', async ({ api }) => {
    const { body, callsId, loadId } = await catalogOf(api);
    const made = await api.make('/v1/subscriptions', {
      ...body,
      line_item_commitments: {
        [callsId]: {
          commitment_quantity: '10000',
          commitment_overage_factor: '1.5',
          commitment_duration: 'QUARTERLY',
          commitment_true_up_enabled: true,
        },
        [loadId]: {
          commitment_amount: '10',
          commitment_overage_factor: '2',
          commitment_windowed: true,
        },
      },
    });
    const [calls, load, seats] = made.line_items;
    expect(calls).toMatchObject({
      price_id: callsId,
      commitment_type: 'quantity',
      commitment_amount: null,
      commitment_quantity: '10000',
      commitment_duration: 'QUARTERLY',
      commitment_overage_factor: '1.5',
      commitment_true_up_enabled: true,
      commitment_windowed: false,
      commitment_time_buckets: [],
    });
    expect(load).toMatchObject({
      price_id: loadId,
      commitment_type: 'amount',
      commitment_amount: '10',
      commitment_windowed: true,
    });
    expect(seats).toMatchObject({ commitment_type: null, commitment_windowed: false });
    const { body: read } = await api.call('GET', `/v1/subscriptions/${made.id}`);
    expect(read).toEqual({ ...made, warnings: undefined });
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { body, callsId, loadId, seatsId } = await catalogOf(api);
    const good = { commitment_amount: '5', commitment_overage_factor: '2' };
    const on = (id: string, commitment: object) => ({
      ...body,
      line_item_commitments: { [id]: commitment },
    });
    const place = (id: string, member: string): string => `line_item_commitments.${id}${member}`;
    await expectRefusals(api, '/v1/subscriptions', [
      ['an unknown price', on('price_x', good), place('price_x', '')],
      ['a fixed line', on(seatsId, good), place(seatsId, '')],
      [
        'windows without buckets',
        on(callsId, { ...good, commitment_windowed: true }),
        place(callsId, '.commitment_windowed'),
      ],
      [
        'windows for a year',
        on(loadId, { ...good, commitment_windowed: true, commitment_duration: 'ANNUAL' }),
        place(loadId, '.commitment_duration'),
      ],
      [
        'an unknown type',
        on(loadId, { ...good, commitment_type: 'money' }),
        place(loadId, '.commitment_type'),
      ],
      [
        'a factor below 1',
        on(loadId, { ...good, commitment_overage_factor: '0.9' }),
        place(loadId, '.commitment_overage_factor'),
      ],
      ['an unknown member', on(loadId, { ...good, colour: 1 }), place(loadId, '.colour')],
    ]);
    const same = { ...good, commitment_windowed: true, commitment_duration: 'MONTHLY' };
    await api.make('/v1/subscriptions', on(loadId, same));
  });
});

describe('POST /subscriptions with time buckets', () => {
  test('stores them on a price of the subscription, with prices of their own', async ({ api }) => {
    const { body, loadId, loadMeterId } = await catalogOf(api);
    const commitment = {
      commitment_windowed: true,
      commitment_time_buckets: [
        BUCKET,
        {
          ...BUCKET,
          start: { hour: 22, minute: 30 },
          end: { hour: 6 },
          commitment_type: 'quantity',
          overage_factor: 1,
          true_up_enabled: false,
          price: undefined,
          price_id: loadId,
        },
      ],
    };
    const made = await api.make('/v1/subscriptions', {
      ...body,
      line_item_commitments: { [loadId]: commitment },
    });
    const line = made.line_items[1];
    expect(line.price).toMatchObject({
      id: line.price_id,
      entity_type: 'SUBSCRIPTION',
      entity_id: made.id,
      parent_price_id: loadId,
      amount: '1',
      display_name: 'Load',
    });
    expect(line).toMatchObject({ display_name: 'Load', commitment_type: null });
    const [day, night] = line.commitment_time_buckets;
    expect(day).toMatchObject({
      start: { hour: 9, minute: 0 },
      end: { hour: 17, minute: 0 },
      commitment_type: 'amount',
      commitment_value: '4',
      overage_factor: 1.5,
      true_up_enabled: true,
    });
    expect(day.id).toMatch(/^bucket_/);
    // An hour has no use for minutes.
    expect(night).toMatchObject({
      start: { hour: 22, minute: 0 },
      end: { hour: 6, minute: 0 },
      price_id: loadId,
    });
    const price = await api.call('GET', `/v1/prices/${day.price_id}`);
    expect(price.body).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      entity_id: made.id,
      amount: '0.8',
      meter_id: loadMeterId,
      type: 'USAGE',
    });
    expect(made.line_items).toHaveLength(3);
    const { body: read } = await api.call('GET', `/v1/subscriptions/${made.id}`);
    expect(read).toEqual({ ...made, warnings: undefined });
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { body, loadId, callsId, seatsId } = await catalogOf(api);
    const buckets = (...list: readonly object[]) => ({
      ...body,
      line_item_commitments: {
        [loadId]: { commitment_windowed: true, commitment_time_buckets: list },
      },
    });
    const place = (member: string): string =>
      `line_item_commitments.${loadId}.commitment_time_buckets.${member}`;
    const price = (change: object) => ({ ...BUCKET, price: { ...BUCKET.price, ...change } });
    const named = (id: string) => ({ ...BUCKET, price: undefined, price_id: id });
    await expectRefusals(api, '/v1/subscriptions', [
      ['24:30', buckets({ ...BUCKET, end: { hour: 24, minute: 30 } }), place('0.end.minute')],
      ['25:00', buckets({ ...BUCKET, end: { hour: 25 } }), place('0.end.hour')],
      ['60 minutes', buckets({ ...BUCKET, end: { hour: 9, minute: 60 } }), place('0.end.minute')],
      ['an empty one', buckets({ ...BUCKET, end: { hour: 9, minute: 30 } }), place('0.end')],
      ['an overlap', buckets(BUCKET, { ...BUCKET, start: { hour: 16 } }), place('1.start')],
      ['a factor below 1', buckets({ ...BUCKET, overage_factor: 0.5 }), place('0.overage_factor')],
      ['a value of 0', buckets({ ...BUCKET, commitment_value: '0' }), place('0.commitment_value')],
      ['a price of euros', buckets(price({ currency: 'eur' })), place('0.price.currency')],
      ['a fixed price', buckets(price({ type: 'FIXED' })), place('0.price.type')],
      [
        'tiers without order',
        buckets(
          price({
            amount: undefined,
            tiers: [
              { unit_amount: '1', up_to: 5 },
              { unit_amount: '1', up_to: 5 },
              { unit_amount: '1' },
            ],
          }),
        ),
        place('0.price.tiers.1.up_to'),
      ],
      ['the price of another meter', buckets(named(callsId)), place('0.price_id')],
      ['the price of seats', buckets(named(seatsId)), place('0.price_id')],
      ['two prices', buckets({ ...BUCKET, price_id: loadId }), place('0.price_id')],
    ]);
    expect(
      (await api.call('POST', '/v1/subscriptions', { body: buckets(named('price_x')) })).status,
    ).toBe(404);
    await api.make(
      '/v1/subscriptions',
      buckets(BUCKET, { ...BUCKET, start: { hour: 17 }, end: { hour: 24 } }),
    );
  });

  test('suit meters whose windows are a day at most', async ({ api }) => {
    const { body, loadId } = await catalogOf(api, 'WEEK');
    const commitment = { commitment_windowed: true, commitment_time_buckets: [BUCKET] };
    await expectRefusals(api, '/v1/subscriptions', [
      [
        'a week',
        { ...body, line_item_commitments: { [loadId]: commitment } },
        `line_item_commitments.${loadId}.commitment_time_buckets`,
      ],
    ]);
  });
});

describe('POST /subscriptions with lines of its own', () => {
  test('adds them behind those of the plan', async ({ api }) => {
    const { body, meterId, seatsId, callsId } = await catalogOf(api);
    const made = await api.make('/v1/subscriptions', {
      ...body,
      line_items: [
        { price_id: seatsId, quantity: '4', display_name: 'Guests', metadata: { team: 'b' } },
        { price: { currency: 'usd', meter_id: meterId, amount: '0.5', filter_values: { a: 'x' } } },
      ],
      line_item_commitments: {
        [callsId]: { commitment_amount: '5', commitment_overage_factor: '1' },
      },
    });
    expect(made.line_items).toHaveLength(5);
    const [guests, narrowed] = made.line_items.slice(3);
    expect(guests).toMatchObject({
      entity_type: 'subscription',
      entity_id: made.id,
      price_id: seatsId,
      quantity: '4',
      display_name: 'Guests',
      plan_display_name: null,
      metadata: { team: 'b' },
    });
    expect(narrowed).toMatchObject({ meter_id: meterId, quantity: '0', display_name: 'Calls' });
    expect(narrowed.price).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      entity_id: made.id,
      parent_price_id: null,
      filter_values: { a: ['x'] },
    });
    const found = await api.make('/v1/prices/search', { subscription_id: made.id });
    expect(found.items.map(({ id }: { id: string }) => id)).toEqual([narrowed.price_id]);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    const { body, callsId, seatsId } = await catalogOf(api);
    const other = await api.make('/v1/subscriptions', {
      ...body,
      line_items: [{ price: { currency: 'usd', amount: '1' } }],
    });
    const foreign = other.line_items[3].price_id;
    const withLine = (line: object) => ({ ...body, line_items: [line] });
    const price = { currency: 'usd', amount: '1' };
    await expectRefusals(api, '/v1/subscriptions', [
      ['neither', withLine({}), 'line_items.0.price_id'],
      ['both', withLine({ price_id: seatsId, price }), 'line_items.0.price_id'],
      [
        'a quantity of usage',
        withLine({ price_id: callsId, quantity: '1' }),
        'line_items.0.quantity',
      ],
      ['less than nothing', withLine({ price, quantity: '-1' }), 'line_items.0.quantity'],
      ['euros', withLine({ price: { ...price, currency: 'eur' } }), 'line_items.0.price.currency'],
      [
        'another period',
        withLine({ price: { ...price, billing_period: 'WEEKLY' } }),
        'line_items.0.price.billing_period',
      ],
      [
        'a price that has ended',
        withLine({
          price: { ...price, start_date: '2020-01-01T00:00:00Z', end_date: '2020-02-01T00:00:00Z' },
        }),
        'line_items.0.price.end_date',
      ],
      [
        'an end before the start',
        withLine({
          price: { ...price, start_date: '2020-02-01T00:00:00Z', end_date: '2020-01-01T00:00:00Z' },
        }),
        'line_items.0.price.end_date',
      ],
      ['a price of others', withLine({ price_id: foreign }), 'line_items.0.price_id'],
      [
        'an owner',
        withLine({ price: { ...price, entity_id: 'x' } }),
        'line_items.0.price.entity_id',
      ],
      ['trial days', withLine({ price: { ...price, trial_period_days: 3 } }), 'trial_period_days'],
    ]);
    const statusOf = async (line: object): Promise<number> =>
      (await api.call('POST', '/v1/subscriptions', { body: withLine(line) })).status;
    expect(await statusOf({ price_id: 'price_x' })).toBe(404);
    expect(await statusOf({ price: { ...price, meter_id: 'meter_x' } })).toBe(404);
    expect(await statusOf({ price: { ...price, lookup_key: 'own' } })).toBe(201);
    expect(await statusOf({ price: { ...price, lookup_key: 'own' } })).toBe(409);
  });
});
