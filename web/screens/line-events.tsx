import { useState } from 'preact/hooks';
import { call, type Schemas } from '../data/api.js';
import { useAction, useLoad } from '../data/load.js';
import { Failure, Section, Show } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Quantity, To, When } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

type Page = Schemas['LineEventsDto'];
type Names = { readonly invoice: string; readonly line: string };

const FEW = 50;

function readPage({ invoice, line }: Names, cursor: string | null): Promise<Page> {
  return call('GET', '/invoices/{id}/line_items/{line_id}/events', {
    path: { id: invoice, line_id: line },
    query: { limit: FEW, ...(cursor === null ? {} : { cursor }) },
  });
}

type ListProps = { first: Page; names: Names; zone: string };

/** The events of the first page, and of those that were asked for after it. */
function List({ first, names, zone }: ListProps) {
  const [pages, setPages] = useState<readonly Page[]>([first]);
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const more = useAction(async () => {
    const next = await readPage(names, cursor);
    setPages([...pages, next]);
  });
  return (
    <>
      <p class="quiet">
        {t('events_behind', {
          count: groupDigits(String(first.event_count)),
          quantity: groupDigits(first.quantity),
        })}
      </p>
      <Table
        caption={t('events')}
        rows={pages.flatMap(({ items }) => items)}
        keyOf={({ event_id: id }) => id}
        columns={[
          {
            name: t('event'),
            cell: ({ event_id: id }) => (
              <To pattern="/events/:id" names={{ id }}>
                <code>{id}</code>
              </To>
            ),
          },
          {
            name: t('when'),
            cell: ({ timestamp }) => <When at={timestamp} zone={zone} precision="second" />,
          },
          { name: t('source'), cell: ({ source }) => source },
          {
            name: t('value'),
            isNumber: true,
            cell: ({ value, text }) => <Quantity text={value ?? text} />,
          },
        ]}
      />
      {cursor !== null && (
        <button type="button" disabled={more.isRunning} onClick={more.run}>
          {t('more_events')}
        </button>
      )}
      <Failure error={more.error} />
    </>
  );
}

/** The events whose values add up to the quantity of a line. */
export function LineEvents({ names, zone }: { names: Names; zone: string }) {
  const found = useLoad(`events of ${names.line}`, () => readPage(names, null));
  return (
    <Section title={t('events_of_line')}>
      <Show of={found}>{(first) => <List first={first} names={names} zone={zone} />}</Show>
    </Section>
  );
}
