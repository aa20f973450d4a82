import { call, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { place, setQuery } from '../app/router.js';
import { DayFilter, TextFilter } from '../parts/form.js';
import { Facts, Section, Show } from '../parts/states.js';
import { CsvButton, PAGE, Table, type Column } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Id, Quantity, State, To, When } from '../parts/values.js';
import { t } from '../words/words.js';

/** What the filters of the address mean. */
function filtersOfAddress() {
  const { name = '', customer = '', since = '' } = place.value.query;
  return {
    ...(name === '' ? {} : { event_name: name }),
    ...(customer === '' ? {} : { external_customer_id: customer }),
    ...(since === '' ? {} : { start_time: `${since}T00:00:00Z` }),
  };
}

/** As many events as one answer has. */
const CSV_PAGE = 1000;

async function* allEvents(): AsyncGenerator<readonly (string | null)[]> {
  const filters = filtersOfAddress();
  let after: string | null = null;
  do {
    const key: { iter_last_key?: string } = after === null ? {} : { iter_last_key: after };
    const page: Schemas['EventListDto'] = await call('GET', '/events', {
      query: { page_size: CSV_PAGE, ...filters, ...key },
    });
    for (const each of page.events) {
      const properties = JSON.stringify(each.properties);
      const { id, event_name: name, external_customer_id: customer, timestamp, source } = each;
      yield [id, name, customer, timestamp, source, properties];
    }
    after = page.has_more ? page.iter_last_key : null;
  } while (after !== null);
}

const HEADS = [
  'event_id',
  'event_name',
  'external_customer_id',
  'timestamp',
  'source',
  'properties',
];

const columns = (): readonly Column<Schemas['EventDto']>[] => [
  {
    name: t('event'),
    cell: ({ id }) => (
      <To pattern="/events/:id" names={{ id }}>
        <code>{id}</code>
      </To>
    ),
  },
  { name: t('event_name'), cell: ({ event_name: text }) => text },
  {
    name: t('customer'),
    cell: ({ customer_id: id, external_customer_id: text }) => <Id id={id} text={text} />,
  },
  {
    name: t('when'),
    cell: ({ timestamp }) => <When at={timestamp} precision="second" />,
  },
  { name: t('source'), cell: ({ source }) => source },
];

/** The stream of events, the latest first. */
export function Events() {
  const { after = '' } = place.value.query;
  const query = {
    page_size: PAGE,
    ...filtersOfAddress(),
    ...(after === '' ? {} : { iter_last_key: after }),
  };
  const found = useLoad(`events ${JSON.stringify(query)} ${place.value.environmentId}`, () =>
    call('GET', '/events', { query }),
  );
  return (
    <>
      <Title of={t('events')}>
        <CsvButton name="events" heads={HEADS} rows={allEvents} />
      </Title>
      <div class="filters">
        <TextFilter label={t('event_name')} name="name" />
        <TextFilter label={t('external_id')} name="customer" />
        <DayFilter label={t('since')} name="since" />
      </div>
      <Show of={found}>
        {({ events, has_more: hasMore, iter_last_key: last }) => (
          <>
            <Table
              caption={t('events')}
              rows={events}
              keyOf={({ id }) => id}
              empty={t('no_events')}
              columns={columns()}
            />
            {hasMore && last !== null && (
              <button type="button" onClick={() => setQuery({ after: last, page: '' })}>
                {t('older_events')}
              </button>
            )}
          </>
        )}
      </Show>
    </>
  );
}

type LookedUp = Schemas['EventLookupDto'];

function Way({ of: { event, log, minute, status, reason, duplicates, conflicts } }: OfEvent) {
  return (
    <Facts
      of={[
        [t('state'), <State of={status} />],
        [t('reason'), reason === null ? '–' : reason.replaceAll('_', ' ')],
        [t('event_name'), <code>{event.event_name}</code>],
        [t('customer'), <Id id={event.customer_id} text={event.external_customer_id} />],
        [t('timestamp'), <When at={event.timestamp} precision="second" />],
        [t('received'), <When at={event.received_at} precision="second" />],
        [
          t('place_in_log'),
          <code>
            {log.partition}/{log.offset}/{log.index}
          </code>,
        ],
        [t('minute'), <When at={minute} />],
        [t('duplicates'), String(duplicates)],
        [t('conflicts'), String(conflicts)],
      ]}
    />
  );
}

type OfEvent = { readonly of: LookedUp };

function MetersOf({ of: { meters } }: OfEvent) {
  return (
    <Section title={t('meters')}>
      <Table
        caption={t('meters')}
        rows={meters}
        keyOf={({ meter_id: meter }) => meter}
        empty={t('no_meters_match')}
        columns={[
          { name: t('meter'), cell: ({ meter_id: meter }) => <code>{meter}</code> },
          { name: t('meter_version'), cell: ({ meter_version: version }) => String(version) },
          { name: t('value'), isNumber: true, cell: ({ value }) => <Quantity text={value} /> },
        ]}
      />
    </Section>
  );
}

function LinesOf({ of: { lines } }: OfEvent) {
  return (
    <Section title={t('lines')}>
      <Table
        caption={t('lines')}
        rows={lines}
        keyOf={({ subscription_line_item_id: line }) => line}
        empty={t('no_lines_charge')}
        columns={[
          {
            name: t('line'),
            cell: ({ invoice_id: invoice, invoice_line_item_id: line }) =>
              invoice === null || line === null ? (
                t('not_billed_yet')
              ) : (
                <To pattern="/invoices/:invoice/lines/:line" names={{ invoice, line }}>
                  <code>{line}</code>
                </To>
              ),
          },
          { name: t('subscription'), cell: ({ subscription_id: id }) => <Id id={id} /> },
        ]}
      />
    </Section>
  );
}

/** What became of one event: from its receipt to the lines that charge for it, or why not. */
export function EventScreen({ id = '' }: { id?: string }) {
  const found = useLoad(`event ${id}`, () => call('GET', '/events/lookup', { query: { id } }));
  return (
    <Show of={found}>
      {(lookedUp) => (
        <>
          <Title of={`${t('event')} ${lookedUp.event.id}`} />
          <Way of={lookedUp} />
          <Section title={t('properties')}>
            <pre tabIndex={0}>{JSON.stringify(lookedUp.event.properties, null, 2)}</pre>
          </Section>
          <MetersOf of={lookedUp} />
          <LinesOf of={lookedUp} />
        </>
      )}
    </Show>
  );
}
