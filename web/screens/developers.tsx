import { may } from '../data/api.js';
import { tabOf, Tabs, type Tab } from '../parts/tabs.js';
import { Title } from '../parts/title.js';
import { t } from '../words/words.js';
import { ApiKeys } from './api-keys.js';
import { Exports } from './exports.js';
import { Deliveries, Endpoints } from './webhooks.js';

const tabs = (): readonly Tab[] => [
  { name: 'keys', word: 'api_keys', isOpen: may('GET', '/secrets/api/keys') },
  { name: 'endpoints', word: 'endpoints', isOpen: may('GET', '/webhooks/endpoints') },
  { name: 'deliveries', word: 'deliveries', isOpen: may('GET', '/webhooks/deliveries') },
  { name: 'exports', word: 'exports', isOpen: may('GET', '/tasks') },
];

/** Where programs meet Minutebook. */
export function Developers() {
  const of = tabs();
  const tab = tabOf(of);
  return (
    <>
      <Title of={t('developers')} />
      <Tabs of={of} />
      {tab === 'keys' && <ApiKeys />}
      {tab === 'endpoints' && <Endpoints />}
      {tab === 'deliveries' && <Deliveries />}
      {tab === 'exports' && <Exports />}
    </>
  );
}
