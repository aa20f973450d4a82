import { useState } from 'preact/hooks';
import { place } from '../app/router.js';
import { call, may } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { Act } from '../parts/act.js';
import { given } from '../parts/form.js';
import { Secret } from '../parts/secret.js';
import { Section, Show } from '../parts/states.js';
import { pageOfAddress, Pages, Table } from '../parts/table.js';
import { When, choicesOf, stateText } from '../parts/values.js';
import { t } from '../words/words.js';

const TYPES = ['private_key', 'publishable_key'] as const;

function MakeKey({ made }: { made: (apiKey: string) => void }) {
  return (
    <Act
      name="make_key"
      fields={[
        { name: 'name', label: 'name' },
        {
          name: 'type',
          label: 'kind',
          choices: choicesOf(TYPES),
        },
        { name: 'expires_at', label: 'expires', isInstant: true, isOptional: true },
      ]}
      send={async (answers) => {
        const { name = '' } = answers;
        const type = TYPES.find((each) => each === answers['type']) ?? 'private_key';
        const body = { name, type, ...given(answers, ['expires_at']) };
        const { api_key: apiKey } = await call('POST', '/secrets/api/keys', { body });
        made(apiKey);
      }}
    />
  );
}

/** The keys of programs. A key is shown once, when it is made. */
export function ApiKeys() {
  const page = pageOfAddress();
  const [secret, setSecret] = useState<string | null>(null);
  const found = useLoad(`keys ${page.offset} ${place.value.environmentId}`, () =>
    call('GET', '/secrets/api/keys', { query: page }),
  );
  const make = may('POST', '/secrets/api/keys') && (
    <MakeKey
      made={(apiKey) => {
        setSecret(apiKey);
      }}
    />
  );
  return (
    <Section title={t('api_keys')} actions={make}>
      {secret !== null && <Secret text={secret} close={() => setSecret(null)} />}
      <Show of={found}>
        {({ items, pagination }) => (
          <>
            <Table
              caption={t('api_keys')}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { name: t('name'), cell: ({ name }) => name },
                { name: t('key'), cell: ({ display_id: id }) => <code>{id}</code> },
                { name: t('kind'), cell: ({ type }) => stateText(type) },
                { name: t('last_used'), cell: ({ last_used_at: at }) => <When at={at} /> },
                { name: t('expires'), cell: ({ expires_at: at }) => <When at={at} /> },
                {
                  name: t('actions'),
                  isAction: true,
                  cell: ({ id }) =>
                    may('DELETE', '/secrets/api/keys/{id}') ? (
                      <Act
                        name="delete_key"
                        of={id}
                        ask="ask_delete_key"
                        send={async () => {
                          await call('DELETE', '/secrets/api/keys/{id}', { path: { id } });
                        }}
                      />
                    ) : null,
                },
              ]}
            />
            <Pages total={pagination.total} offset={page.offset} />
          </>
        )}
      </Show>
    </Section>
  );
}
