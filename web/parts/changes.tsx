import { call, type Schemas } from '../data/api.js';
import { useLoad } from '../data/load.js';
import { t } from '../words/words.js';
import { Show } from './states.js';
import { Table } from './table.js';
import { When } from './values.js';

type Entry = Schemas['AuditEntryDto'];
type Record = Readonly<{ [member: string]: unknown }>;

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** What says nothing to people: it changes with every write. */
const UNTOLD: ReadonlySet<string> = new Set(['updated_at', 'updated_by', 'version']);

/** The members that an entry has changed, each as `member: before → after`. */
export function changedMembers({ before, after }: Entry): readonly string[] {
  const [was, is] = [(before ?? {}) as Record, after as Record];
  return Object.keys(is)
    .map((name) => [name, textOf(was[name]), textOf(is[name])] as const)
    .filter(([name, old, now]) => !UNTOLD.has(name) && old !== now)
    .map(([name, old, now]) => `${name}: ${old} → ${now}`);
}

/** What has changed a record last, so that whoever is refused sees why. */
export function LatestChanges({ id }: { id: string }) {
  const found = useLoad(`latest changes of ${id}`, () =>
    call('POST', '/audit/search', { body: { entity_id: id, limit: 3 } }),
  );
  return (
    <Show of={found}>
      {({ items }) => (
        <Table
          caption={t('what_changed')}
          rows={items}
          keyOf={(each) => each.id}
          columns={[
            { name: t('when'), cell: ({ created_at: at }) => <When at={at} precision="second" /> },
            { name: t('by'), cell: ({ actor_name: name, actor_kind: kind }) => name ?? kind },
            {
              name: t('what_changed'),
              cell: (entry) => changedMembers(entry).slice(0, 8).join('; '),
            },
          ]}
        />
      )}
    </Show>
  );
}
