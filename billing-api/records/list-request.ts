import type { DateTime, PageRequest, RecordStatusDto } from './record-dto.js';
import type { SearchBodyRequest } from './search-request.js';

/** What every GET list of records takes (docs/http.md 1.6). */
export interface ListQuery extends PageRequest {
  /** @default "published" */
  status?: RecordStatusDto;
  /** A scalar member of the records. @default "created_at" */
  sort?: string;
  /** @default "desc" */
  order?: 'asc' | 'desc';
  /** Comma-separated names of expandable members. */
  expand?: string;
  /** Created at or after. */
  start_time?: DateTime;
  /** Created before. */
  end_time?: DateTime;
}

/** A GET list as the search it is: sorted by created_at, newest first, unless it says otherwise. */
export function listRequestFrom(query: ListQuery): SearchBodyRequest {
  const { limit, offset, status, sort, order, expand, start_time, end_time } = query;
  const common = { limit, offset, status, expand, start_time, end_time };
  return { ...common, sort: [{ field: sort ?? 'created_at', direction: order ?? 'desc' }] };
}
