import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../data/api.js';
import { t } from '../words/words.js';
import { useAction } from '../data/load.js';
import { Facts, Failure } from './states.js';
import { Table } from './table.js';
import { Amount, Period, Quantity, When } from './values.js';

type Explained = Schemas['ExplanationDto'];
type StepProps = { title: string; result?: ComponentChildren; children: ComponentChildren };

/** A step of the way from events to the amount. What it consists of is drawn once it is opened. */
function Step({ title, result, children }: StepProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="step" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span>{title}</span>
        <span class="result">{result}</span>
      </summary>
      {isOpen && children}
    </details>
  );
}

function Metered({ of: { meter, event_count: count, quantity } }: { of: Explained }) {
  if (meter === null || meter === undefined) return null;
  const { aggregation, filters } = meter;
  const filtered = filters.map(({ key, values }) => `${key} = ${values.join(', ')}`);
  return (
    <Step title={t('step_events')} result={<Quantity text={quantity?.raw ?? null} />}>
      <Facts
        of={[
          [t('event_name'), <code>{meter.event_name}</code>],
          [t('aggregation'), [aggregation.type, aggregation.field ?? ''].join(' ')],
          [t('filters'), filtered.length === 0 ? '–' : filtered.join('; ')],
          [t('meter_version'), String(meter.version)],
          [t('events'), count === null ? '–' : <Quantity text={String(count)} />],
        ]}
      />
    </Step>
  );
}

type Windowed = NonNullable<Explained['windows']>;
/** Reads windows of time from one of them on; a line may have ten thousand. */
export type ReadWindows = (offset: number) => Promise<Windowed['items']>;
type WindowsProps = { of: Explained; readWindows: ReadWindows };

function Windows({ of, readWindows }: WindowsProps) {
  const { windows } = of;
  if (windows === null || windows === undefined || windows.items.length === 0) return null;
  return (
    <Step title={t('step_windows')} result={<Quantity text={String(windows.pagination.total)} />}>
      <WindowList windows={windows} of={of} readWindows={readWindows} />
    </Step>
  );
}

function WindowList({ windows, of, readWindows }: WindowsProps & { windows: Windowed }) {
  const { timezone, currency } = of;
  const [items, setItems] = useState(windows.items);
  const more = useAction(async () => setItems([...items, ...(await readWindows(items.length))]));
  return (
    <>
      <Table
        caption={t('step_windows')}
        rows={items}
        keyOf={({ start, group }) => `${start} ${group ?? ''}`}
        columns={[
          { name: t('when'), cell: ({ start }) => <When at={start} zone={timezone} /> },
          { name: t('group'), cell: ({ group }) => group ?? '–' },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
          {
            name: t('amount'),
            isNumber: true,
            cell: ({ charge }) => <Amount text={charge} currency={currency} />,
          },
        ]}
      />
      {items.length < windows.pagination.total && (
        <button type="button" disabled={more.isRunning} onClick={more.run}>
          {t('more_windows')}
        </button>
      )}
      <Failure error={more.error} />
    </>
  );
}

function Allowance({ of: { quantity, timezone } }: { of: Explained }) {
  const allowance = quantity?.allowance;
  if (quantity === null || quantity === undefined) return null;
  if (allowance === null || allowance === undefined) return null;
  return (
    <Step title={t('step_allowance')} result={<Quantity text={quantity.billed} />}>
      <Facts of={[[t('allowed'), <Quantity text={allowance.limit} />]]} />
      <Table
        caption={t('step_allowance')}
        rows={allowance.windows}
        keyOf={({ start }) => start ?? ''}
        columns={[
          {
            name: t('period'),
            cell: ({ start, end }) => <Period start={start} end={end} zone={timezone} />,
          },
          {
            name: t('used_before'),
            isNumber: true,
            cell: ({ used_before: text }) => <Quantity text={text} />,
          },
          {
            name: t('used_until'),
            isNumber: true,
            cell: ({ used_until: text }) => <Quantity text={text} />,
          },
          { name: t('free'), isNumber: true, cell: ({ free }) => <Quantity text={free} /> },
        ]}
      />
    </Step>
  );
}

function Pricing({ of: { pricing, currency, rounding } }: { of: Explained }) {
  if (pricing === null || pricing === undefined) return null;
  const amount = (text: string) => <Amount text={text} currency={currency} />;
  return (
    <Step title={t('step_pricing')} result={amount(rounding.exact)}>
      <Facts
        of={[
          [t('price_model'), [pricing.billing_model, pricing.tier_mode ?? ''].join(' ')],
          [t('packages'), <Quantity text={pricing.packages} />],
        ]}
      />
      <Table
        caption={t('step_pricing')}
        rows={pricing.steps}
        keyOf={({ tier }) => String(tier)}
        columns={[
          { name: t('tier'), cell: ({ tier }) => String(tier) },
          {
            name: t('quantity'),
            isNumber: true,
            cell: ({ quantity }) => <Quantity text={quantity} />,
          },
          {
            name: t('unit_amount'),
            isNumber: true,
            cell: ({ unit_amount: text }) => amount(text),
          },
          { name: t('flat'), isNumber: true, cell: ({ flat_amount: text }) => amount(text) },
          { name: t('amount'), isNumber: true, cell: ({ amount: text }) => amount(text) },
        ]}
      />
    </Step>
  );
}

function Commitment({ of: { commitment, currency } }: { of: Explained }) {
  if (commitment === null || commitment === undefined) return null;
  const amount = (text: string) => <Amount text={text} currency={currency} />;
  return (
    <Step title={t('step_commitment')} result={amount(commitment.true_up)}>
      <Facts
        of={[
          [t('committed'), amount(commitment.amount)],
          [t('used_before'), amount(commitment.used_before)],
          [t('in_commitment'), amount(commitment.in_commitment)],
          [t('overage'), amount(commitment.overage)],
          [t('overage_factor'), commitment.overage_factor],
          [t('true_up'), amount(commitment.true_up)],
        ]}
      />
    </Step>
  );
}

function Proration({ of: { proration } }: { of: Explained }) {
  if (proration === null || proration === undefined) return null;
  return (
    <Step title={t('step_proration')} result={<Quantity text={proration.coefficient} />}>
      <Facts
        of={[
          [t('covered_seconds'), <Quantity text={String(proration.covered_seconds)} />],
          [t('full_seconds'), <Quantity text={String(proration.full_seconds)} />],
        ]}
      />
    </Step>
  );
}

function Maximum({ of: { maximum, currency } }: { of: Explained }) {
  if (maximum === null || maximum === undefined) return null;
  const amount = (text: string) => <Amount text={text} currency={currency} />;
  return (
    <Step title={t('step_maximum')} result={amount(maximum.maximum)}>
      <Facts
        of={[
          [t('uncapped'), amount(maximum.uncapped)],
          [t('charged_before'), amount(maximum.charged_before)],
        ]}
      />
    </Step>
  );
}

function Discounts({ of: { discounts, currency } }: { of: Explained }) {
  if (discounts.length === 0) return null;
  const amount = (text: string) => <Amount text={text} currency={currency} />;
  return (
    <Step title={t('step_discounts')} result={String(discounts.length)}>
      <Table
        caption={t('step_discounts')}
        rows={discounts}
        keyOf={({ coupon_association_id: id }) => id}
        columns={[
          { name: t('coupon'), cell: ({ coupon_association_id: id }) => <code>{id}</code> },
          { name: t('base'), isNumber: true, cell: ({ base }) => amount(base) },
          { name: t('amount'), isNumber: true, cell: ({ amount: text }) => amount(text) },
        ]}
      />
    </Step>
  );
}

function Rounding({ of: { rounding, currency } }: { of: Explained }) {
  const { exact, rounded, digits, mode } = rounding;
  return (
    <Step title={t('step_rounding')} result={<Amount text={rounded} currency={currency} />}>
      <Facts
        of={[
          [t('exact'), <Amount text={exact} currency={currency} />],
          [t('digits'), String(digits)],
          [t('mode'), mode.replaceAll('_', ' ')],
        ]}
      />
    </Step>
  );
}

/** The way from the events to the amount, step by step. */
export function Explanation({ of, readWindows }: WindowsProps) {
  return (
    <div class="steps">
      <Metered of={of} />
      <Windows of={of} readWindows={readWindows} />
      <Allowance of={of} />
      <Pricing of={of} />
      <Proration of={of} />
      <Commitment of={of} />
      <Maximum of={of} />
      <Discounts of={of} />
      <Rounding of={of} />
    </div>
  );
}
