import { useState } from 'preact/hooks';
import type { ItemOf } from '../../client/api-call.js';
import { call, may, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { Field, given, Question, type Answers, type Asked } from '../parts/form.js';
import { Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Amount, When, choicesOf, stateText } from '../parts/values.js';
import { t } from '../words/words.js';

type Price = ItemOf<'POST', '/prices/search'>;
type NewPrice = Schemas['CreatePriceBody'];
export type Owner = { readonly type: 'PLAN' | 'ADDON'; readonly id: string };

const PERIODS = [
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
  'WEEKLY',
  'DAILY',
  'ONETIME',
] as const;
const CADENCES = ['ARREAR', 'ADVANCE'] as const;
const MODELS = ['FLAT_FEE', 'PACKAGE', 'TIERED'] as const;
const TIER_MODES = ['VOLUME', 'SLAB'] as const;

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((value) => value === text);

/** The tiers that were filled in, in their order; the last one has no end. */
function tiersOf(answers: Answers): Schemas['TierBody'][] {
  const tiers: Schemas['TierBody'][] = [];
  for (let row = 0; (answers[`unit ${row}`] ?? '') !== ''; row += 1) {
    const end = answers[`until ${row}`] ?? '';
    const flat = answers[`flat ${row}`] ?? '';
    tiers.push({
      unit_amount: answers[`unit ${row}`] ?? '',
      up_to: end === '' ? null : Number.parseInt(end, 10),
      ...(flat === '' ? {} : { flat_amount: flat }),
    });
  }
  return tiers;
}

/** What a price costs, as its model says. */
function costOf(answers: Answers) {
  const { size = '' } = answers;
  const model = oneOf(MODELS, answers['model']) ?? 'FLAT_FEE';
  switch (model) {
    case 'TIERED':
      return {
        billing_model: model,
        tier_mode: oneOf(TIER_MODES, answers['tier_mode']) ?? 'VOLUME',
        tiers: tiersOf(answers),
      };
    case 'PACKAGE':
      return {
        billing_model: model,
        ...given(answers, ['amount']),
        transform_quantity: { divide_by: Number.parseInt(size, 10) },
      };
    case 'FLAT_FEE':
      return { billing_model: model, ...given(answers, ['amount']) };
  }
}

function priceOf(answers: Answers, owner: Owner): NewPrice {
  const { meter_id: meter = '', currency = '' } = answers;
  return {
    ...costOf(answers),
    entity_type: owner.type,
    entity_id: owner.id,
    currency: currency.toLowerCase(),
    type: meter === '' ? 'FIXED' : 'USAGE',
    billing_period: oneOf(PERIODS, answers['period']) ?? 'MONTHLY',
    invoice_cadence: oneOf(CADENCES, answers['cadence']) ?? 'ARREAR',
    ...given(answers, ['meter_id', 'display_name', 'lookup_key', 'start_date']),
  };
}

/** The rows of tiers, as many as are asked for. */
function Tiers() {
  const [rows, setRows] = useState(2);
  return (
    <fieldset class="tiers">
      <legend>{t('tiers')}</legend>
      {Array.from({ length: rows }, (_none, row) => (
        <div key={row} class="row">
          <Field name={`until ${row}`} label={t('tier_until')} isRequired={false} />
          <Field name={`unit ${row}`} label={t('unit_amount')} isRequired={row === 0} />
          <Field name={`flat ${row}`} label={t('flat')} isRequired={false} />
        </div>
      ))}
      <button type="button" onClick={() => setRows(rows + 1)}>
        {t('another_tier')}
      </button>
    </fieldset>
  );
}

/** The members of a cost, of which only those of the chosen model are asked. */
function Cost({ amount = '' }: { amount?: string }) {
  const [model, setModel] = useState<string>('FLAT_FEE');
  return (
    <>
      <label class="field">
        <span>{t('price_model')}</span>
        <select name="model" onChange={({ currentTarget }) => setModel(currentTarget.value)}>
          {choicesOf(MODELS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {model !== 'TIERED' && <Field name="amount" label={t('amount')} value={amount} />}
      {model === 'PACKAGE' && <Field name="size" label={t('package_size')} />}
      {model === 'TIERED' && (
        <>
          <Question name="tier_mode" label="mode" choices={choicesOf(TIER_MODES)} />
          <Tiers />
        </>
      )}
    </>
  );
}

type Meters = readonly ItemOf<'GET', '/meters'>[];

const priceFields = (meters: Meters): readonly Asked[] => [
  { name: 'display_name', label: 'name' },
  { name: 'currency', label: 'currency', value: 'usd' },
  {
    name: 'meter_id',
    label: 'meter',
    isOptional: true,
    choices: meters.map(({ id, name }) => [id, name] as const),
  },
  { name: 'period', label: 'cadence', choices: choicesOf(PERIODS) },
  { name: 'cadence', label: 'when_billed', choices: choicesOf(CADENCES) },
  { name: 'lookup_key', label: 'lookup_key', isOptional: true },
  { name: 'start_date', label: 'since', isInstant: true, isOptional: true },
];

function PriceActs({ price }: { price: Price }) {
  const path = { id: price.id };
  if (price.end_date !== null) return null;
  return (
    <span class="buttons">
      {may('PUT', '/prices/{id}') && (
        <Act
          name="change_price"
          of={price.id}
          ask="ask_change_price"
          fields={[
            { name: 'effective_from', label: 'effective', isInstant: true, isOptional: true },
          ]}
          send={async (answers) => {
            const body = { ...costOf(answers), ...given(answers, ['effective_from']) };
            await call('PUT', '/prices/{id}', { path, body });
          }}
        >
          <Cost amount={price.amount ?? ''} />
        </Act>
      )}
      {may('DELETE', '/prices/{id}') && (
        <Act
          name="end_price"
          of={price.id}
          ask="ask_end_price"
          fields={[{ name: 'end_date', label: 'ends', isInstant: true, isOptional: true }]}
          send={async (answers) => {
            await call('DELETE', '/prices/{id}', { path, body: given(answers, ['end_date']) });
          }}
        />
      )}
    </span>
  );
}

function CostOf({ of: { amount, currency, tiers } }: { of: Price }) {
  if (amount !== null) return <Amount text={amount} currency={currency} />;
  return <>{t('tiers_of', { count: String(tiers?.length ?? 0) })}</>;
}

function List({ prices }: { prices: readonly Price[] }) {
  return (
    <Table
      caption={t('prices')}
      rows={prices}
      keyOf={({ id }) => id}
      empty={t('no_prices')}
      columns={[
        { name: t('price'), cell: ({ display_name: name, id }) => name ?? <code>{id}</code> },
        { name: t('kind'), cell: ({ type }) => stateText(type) },
        { name: t('price_model'), cell: ({ billing_model: model }) => stateText(model) },
        { name: t('cadence'), cell: ({ billing_period: period }) => stateText(period) },
        { name: t('when_billed'), cell: ({ invoice_cadence: cadence }) => stateText(cadence) },
        { name: t('since'), cell: ({ start_date: at }) => <When at={at} precision="day" /> },
        { name: t('ends'), cell: ({ end_date: at }) => <When at={at} precision="day" /> },
        { name: t('amount'), isNumber: true, cell: (price) => <CostOf of={price} /> },
        { name: t('actions'), isAction: true, cell: (price) => <PriceActs price={price} /> },
      ]}
    />
  );
}

/** The prices of a plan or an addon: those that are, that were, and that are to be. */
export function Prices({ owner }: { owner: Owner }) {
  const body = {
    entity_ids: [owner.id],
    entity_type: owner.type,
    allow_expired_prices: true,
    limit: 200,
  };
  const found = useLoad(`prices of ${owner.id}`, () => call('POST', '/prices/search', { body }));
  const meters = useLoad('meters of prices', async () =>
    may('GET', '/meters') ? (await call('GET', '/meters', { query: { limit: 200 } })).items : [],
  );
  const make = may('POST', '/prices') && meters.state === 'ready' && (
    <Act
      name="make_price"
      fields={priceFields(meters.value)}
      last={<Cost />}
      send={async (answers) => {
        await call('POST', '/prices', { body: priceOf(answers, owner) });
      }}
    />
  );
  return (
    <Section title={t('prices')} actions={make}>
      <Show of={found}>{({ items }) => <List prices={items} />}</Show>
    </Section>
  );
}
