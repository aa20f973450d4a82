export type Access = 'read' | 'write';

/** The entity of a route is the resource it is grouped under (api.md 1.11). */
const ENTITY_OF_SEGMENT: Readonly<Record<string, string>> = {
  events: 'event',
  'meter-usage': 'event',
  users: 'user',
  settings: 'setting',
};

/** Posts that only read: searches, previews and usage questions. */
const READING_POST = /\/(search|preview|usage|usage\/meter|query|analytics)$/;

/** What a request wants to do, by its method and its path below `/v1`. */
export function accessOf(method: string, path: string): Access {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'POST' && READING_POST.test(path) ? 'read' : 'write';
}

export function entityOf(path: string): string {
  const segment = path.split('/')[1] ?? '';
  return ENTITY_OF_SEGMENT[segment] ?? segment;
}

type Wish = { readonly entity: string; readonly access: Access };

/** Whether any of the roles allows it; everybody may read themselves. */
export function isPermitted(roles: readonly string[], wish: Wish): boolean {
  const isOwnUser = wish.entity === 'user' && wish.access === 'read';
  return isOwnUser || roles.some((role) => roleAllows(role, wish));
}

function roleAllows(role: string, wish: Wish): boolean {
  switch (role) {
    case 'super_admin':
      return true;
    case 'all_writer':
      return wish.access === 'read' || (wish.entity !== 'setting' && wish.entity !== 'user');
    case 'all_reader':
      return wish.access === 'read';
    case 'event_ingestor':
      return wish.entity === 'event' && wish.access === 'write';
    case 'event_reader':
      return wish.entity === 'event' && wish.access === 'read';
    default:
      return false;
  }
}
