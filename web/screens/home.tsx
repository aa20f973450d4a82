import { call, may } from '../data/api.js';
import { place } from '../app/router.js';
import { useLoad } from '../data/load.js';
import { FinalizingProgress } from '../parts/finalizing-progress.js';
import { Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { To, When } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { plain, t, type PlainWord } from '../words/words.js';

type Work = {
  readonly word: PlainWord;
  readonly count: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
};

type Found = { readonly work: readonly Work[]; readonly completeUntil: string | null };

const ONE = { limit: 1 };

async function countInvoices(body: object): Promise<number> {
  const search = { ...ONE, skip_line_items: true, ...body };
  return (await call('POST', '/invoices/search', { body: search })).pagination.total;
}

async function invoiceWork(): Promise<readonly Work[]> {
  if (!may('POST', '/invoices/search')) return [];
  const [drafts, failed] = await Promise.all([
    countInvoices({ invoice_status: ['DRAFT'] }),
    countInvoices({ payment_status: ['FAILED'] }),
  ]);
  return [
    { word: 'work_drafts', count: drafts, path: '/invoices', query: { status: 'DRAFT' } },
    { word: 'work_failed', count: failed, path: '/invoices', query: { payment: 'FAILED' } },
  ];
}

async function jobWork(): Promise<readonly Work[]> {
  if (!may('GET', '/jobs')) return [];
  const jobs = await call('GET', '/jobs', { query: { status: 'parked', ...ONE } });
  const { total } = jobs.pagination;
  return [{ word: 'work_jobs', count: total, path: '/clock', query: { jobs: 'parked' } }];
}

async function endpointWork(): Promise<readonly Work[]> {
  if (!may('GET', '/webhooks/endpoints')) return [];
  const { items } = await call('GET', '/webhooks/endpoints', { query: { limit: 200 } });
  const down = items.filter(({ enabled }) => !enabled).length;
  const query = { tab: 'endpoints' };
  return [{ word: 'work_endpoints', count: down, path: '/developers', query }];
}

async function eventWork(): Promise<Found> {
  if (!may('GET', '/events/reconciliation')) return { work: [], completeUntil: null };
  const [{ totals }, monitoring] = await Promise.all([
    call('GET', '/events/reconciliation'),
    call('GET', '/events/monitoring'),
  ]);
  const work: readonly Work[] = [
    { word: 'work_difference', count: totals.difference, path: '/books' },
    { word: 'work_unmatched', count: totals.unmatched, path: '/books' },
  ];
  return { work, completeUntil: monitoring.visible_until };
}

async function readHome(): Promise<Found> {
  const [events, ...others] = await Promise.all([
    eventWork(),
    invoiceWork(),
    jobWork(),
    endpointWork(),
  ]);
  return { work: [...others.flat(), ...events.work], completeUntil: events.completeUntil };
}

/** What waits for somebody. */
export function Home() {
  const found = useLoad(`home ${place.value.environmentId}`, readHome);
  return (
    <>
      <Title of={t('home')} />
      <FinalizingProgress />
      <Show of={found}>
        {({ work, completeUntil }) => (
          <>
            <Table
              caption={t('home')}
              rows={work}
              keyOf={(each) => each.word}
              columns={[
                {
                  name: t('to_do'),
                  cell: ({ word: what, path, query }) => (
                    <To pattern={path} {...(query === undefined ? {} : { query })}>
                      {plain(what)}
                    </To>
                  ),
                },
                {
                  name: t('how_many'),
                  isNumber: true,
                  cell: ({ count }) => (
                    <span class={count === 0 ? 'quiet' : 'due'}>{groupDigits(String(count))}</span>
                  ),
                },
              ]}
            />
            {completeUntil !== null && (
              <p class="quiet">
                {t('complete_until')} <When at={completeUntil} precision="second" />
              </p>
            )}
            {may('POST', '/meters') && (
              <p>
                <To pattern="/first-steps">{t('to_first_steps')}</To>
              </p>
            )}
          </>
        )}
      </Show>
    </>
  );
}
