import { place } from '../app/router.js';
import { call, may, type Schemas } from '../data/api.js';
import { useAction, useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { Failure, Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table } from '../parts/table.js';
import { State, When, choicesOf, stateText } from '../parts/values.js';
import { groupDigits } from '../words/digits.js';
import { t } from '../words/words.js';

const ENTITIES = ['invoice', 'events', 'credit_topups', 'credit_usage', 'usage_analytics'] as const;
const INTERVALS = ['daily', 'hourly', '30MIN', '15MIN'] as const;

function MakeExport() {
  const found = useLoad(`connections ${place.value.environmentId}`, () =>
    call('GET', '/connections', { query: { limit: 200 } }),
  );
  if (found.state !== 'ready') return null;
  const stores = found.value.items.filter(({ provider_type: type }) => type === 's3');
  if (stores.length === 0) return <span class="quiet">{t('no_connection')}</span>;
  return (
    <Act
      name="make_export"
      fields={[
        {
          name: 'connection',
          label: 'connection',
          choices: stores.map(({ id, name }) => [id, name] as const),
        },
        { name: 'entity', label: 'what', choices: choicesOf(ENTITIES) },
        { name: 'interval', label: 'how_often', choices: choicesOf(INTERVALS) },
        { name: 'bucket', label: 'bucket' },
        { name: 'region', label: 'region' },
        { name: 'key_prefix', label: 'key_prefix', isOptional: true },
      ]}
      send={async (answers) => {
        const { connection = '', bucket = '', region = '' } = answers;
        await call('POST', '/tasks/scheduled', {
          body: {
            connection_id: connection,
            entity_type: ENTITIES.find((each) => each === answers['entity']) ?? 'invoice',
            interval: INTERVALS.find((each) => each === answers['interval']) ?? 'daily',
            job_config: { bucket, region, ...given(answers, ['key_prefix']) },
          },
        });
      }}
    />
  );
}

function Planned() {
  const found = useLoad(`exports ${place.value.environmentId}`, () =>
    call('GET', '/tasks/scheduled', { query: { limit: 200 } }),
  );
  const make = may('POST', '/tasks/scheduled') && may('GET', '/connections') && <MakeExport />;
  return (
    <Section title={t('exports')} actions={make}>
      <Show of={found}>
        {({ items }) => (
          <Table
            caption={t('exports')}
            rows={items}
            keyOf={({ id }) => id}
            empty={t('no_exports')}
            columns={[
              { name: t('what'), cell: ({ entity_type: type }) => stateText(type) },
              { name: t('how_often'), cell: ({ interval }) => stateText(interval) },
              {
                name: t('state'),
                cell: ({ enabled }) => <State of={enabled ? 'enabled' : 'disabled'} />,
              },
              { name: t('bucket'), cell: ({ job_config: { bucket } }) => <code>{bucket}</code> },
              {
                name: t('actions'),
                isAction: true,
                cell: ({ id }) =>
                  may('POST', '/tasks/scheduled/{id}/run') ? (
                    <Act
                      name="run_now"
                      of={id}
                      ask="ask_run_now"
                      send={async () => {
                        await call('POST', '/tasks/scheduled/{id}/run', { path: { id }, body: {} });
                      }}
                    />
                  ) : null,
              },
            ]}
          />
        )}
      </Show>
    </Section>
  );
}

/** Opens the file of an export: the server answers an address that is good for a while. */
function Download({ task }: { task: Schemas['TaskDto'] }) {
  const opening = useAction(async () => {
    const path = { id: task.id };
    const { download_url: address } = await call('GET', '/tasks/{id}/download', { path });
    location.assign(address);
  });
  if (task.task_status !== 'COMPLETED') return null;
  return (
    <>
      <button type="button" disabled={opening.isRunning} onClick={opening.run}>
        {t('download')}
      </button>
      <Failure error={opening.error} />
    </>
  );
}

function Runs() {
  const page = pageOfAddress();
  const found = useLoad(`runs of exports ${page.offset} ${place.value.environmentId}`, () =>
    call('GET', '/tasks', { query: page }),
  );
  return (
    <Section title={t('runs')}>
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('runs')}
              rows={items}
              keyOf={({ id }) => id}
              empty={t('no_runs')}
              columns={[
                { name: t('when'), cell: ({ created_at: at }) => <When at={at} /> },
                { name: t('what'), cell: ({ entity_type: type }) => stateText(type) },
                { name: t('state'), cell: ({ task_status: state }) => <State of={state} /> },
                { name: t('reason'), cell: ({ error }) => error ?? '–' },
                {
                  name: t('rows'),
                  isNumber: true,
                  cell: ({ record_count: count }) =>
                    count === null ? '–' : groupDigits(String(count)),
                },
                { name: t('actions'), isAction: true, cell: (task) => <Download task={task} /> },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}

/** Files that are written to a store again and again. */
export function Exports() {
  return (
    <>
      {may('GET', '/tasks/scheduled') && <Planned />}
      <Runs />
    </>
  );
}
