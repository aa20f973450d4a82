import type { SearchBodyRequest } from './search-request.js';

/** Query parameters that every GET list takes (docs/http.md 1.6). */
export type ListQuery = {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  readonly status: 'published' | 'deleted' | 'archived' | undefined;
  readonly sort: string | undefined;
  readonly order: 'asc' | 'desc' | undefined;
  readonly expand: string | undefined;
  readonly start_time: string | undefined;
  readonly end_time: string | undefined;
};

/** A GET list as the search it is: sorted by created_at, newest first, unless it says otherwise. */
export function listRequestFrom(query: ListQuery): SearchBodyRequest {
  const { sort, order, ...common } = query;
  return { ...common, sort: [{ field: sort ?? 'created_at', direction: order ?? 'desc' }] };
}
