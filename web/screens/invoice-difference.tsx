import { MinutebookError } from '../../client/minutebook-error.js';
import { place } from '../app/router.js';
import { call, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { TextFilter } from '../parts/form.js';
import { Facts, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Id, Quantity, State, stateText, To } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Difference = Schemas['InvoiceDiffDto'];

const amountOf = (text: string | null): string => (text === null ? '–' : groupDigits(text));

const causesOf = (causes: readonly string[]): string =>
  causes.length === 0 ? '–' : causes.map(stateText).join(', ');

function Compared({ of }: { of: Difference }) {
  return (
    <>
      <Facts
        of={[
          [t('from'), <Id id={of.from} text={of.from ?? t('computed_now')} />],
          [t('until'), <Id id={of.to} text={of.to ?? t('computed_now')} />],
          [t('total'), `${groupDigits(of.totals.from)} → ${groupDigits(of.totals.to)}`],
          [t('causes'), causesOf(of.causes)],
        ]}
      />
      <Table
        caption={t('lines')}
        rows={of.lines.map((line, index) => ({ ...line, key: String(index) }))}
        keyOf={({ key }) => key}
        columns={[
          { name: t('line'), cell: ({ display_name: name }) => name },
          { name: t('change'), cell: ({ change }) => <State of={change} /> },
          { name: t('causes'), cell: ({ causes }) => causesOf(causes) },
          {
            name: t('quantity_before'),
            isNumber: true,
            cell: ({ quantity_from: text }) => <Quantity text={text} />,
          },
          {
            name: t('quantity_after'),
            isNumber: true,
            cell: ({ quantity_to: text }) => <Quantity text={text} />,
          },
          {
            name: t('amount_before'),
            isNumber: true,
            cell: ({ amount_from: text }) => amountOf(text),
          },
          {
            name: t('amount_after'),
            isNumber: true,
            cell: ({ amount_to: text }) => amountOf(text),
          },
        ]}
      />
    </>
  );
}

/** The invoice of the subscription before this one; null for the first. */
async function invoiceBefore(id: string): Promise<string | null> {
  const invoice = await call('GET', '/invoices/{id}', { path: { id } });
  const { subscription_id: subscription, billing_sequence: own } = invoice;
  if (subscription === null || own === null) return null;
  const sort = [{ field: 'billing_sequence', direction: 'desc' as const }];
  const body = { subscription_id: subscription, sort, limit: 200, skip_line_items: true };
  const { items } = await call('POST', '/invoices/search', { body });
  const before = items.find(
    ({ billing_sequence: sequence }) => sequence !== null && sequence < own,
  );
  return before?.id ?? null;
}

/** Beside the named one, else the one that it replaces, else the one before it; null for none. */
async function readDifference(id: string, against: string): Promise<Difference | null> {
  const path = { id };
  const query = against === '' ? {} : { against };
  try {
    return await call('GET', '/invoices/{id}/diff', { path, query });
  } catch (error) {
    const hasNone = error instanceof MinutebookError && error.code === 'invalid_operation';
    if (!hasNone || against !== '') throw error;
  }
  const before = await invoiceBefore(id);
  if (before === null) return null;
  return call('GET', '/invoices/{id}/diff', { path, query: { against: before } });
}

/** An invoice beside another one, or beside what it would be now, with the cause of each change. */
export function InvoiceDifference({ id = '' }: { id?: string }) {
  const { against = '' } = place.value.query;
  const found = useLoad(`difference ${id} ${against}`, () => readDifference(id, against));
  return (
    <>
      <Title of={t('difference')}>
        <To pattern="/invoices/:id" names={{ id }}>
          {t('to_invoice')}
        </To>
      </Title>
      <p class="quiet">{t('difference_hint')}</p>
      <div class="filters">
        <TextFilter label={t('against')} name="against" />
      </div>
      <Show of={found}>
        {(difference) =>
          difference === null ? (
            <p class="empty">{t('nothing_to_compare')}</p>
          ) : (
            <Compared of={difference} />
          )
        }
      </Show>
    </>
  );
}
