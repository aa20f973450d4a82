import { may } from '../data/api.js';
import { tabOf, Tabs, type Tab } from '../parts/tabs.js';
import { Title } from '../parts/title.js';
import { t } from '../words/words.js';
import { Addons, Coupons, Features } from './catalog-extras.js';
import { Meters, Plans } from './catalog-lists.js';

const tabs = (): readonly Tab[] => [
  { name: 'plans', word: 'plans', isOpen: may('POST', '/plans/search') },
  { name: 'meters', word: 'meters', isOpen: may('GET', '/meters') },
  { name: 'features', word: 'features', isOpen: may('POST', '/features/search') },
  { name: 'addons', word: 'addons', isOpen: may('POST', '/addons/search') },
  { name: 'coupons', word: 'coupons', isOpen: may('POST', '/coupons/search') },
];

/** What is sold, and how it is counted. */
export function Catalog() {
  const of = tabs();
  const tab = tabOf(of);
  return (
    <>
      <Title of={t('catalog')} />
      <Tabs of={of} />
      {tab === 'plans' && <Plans />}
      {tab === 'meters' && <Meters />}
      {tab === 'features' && <Features />}
      {tab === 'addons' && <Addons />}
      {tab === 'coupons' && <Coupons />}
    </>
  );
}
