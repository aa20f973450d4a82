import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { DateTime, DecimalText } from '../../contract/wire-types.js';

export type { Currency, DateTime, DecimalText } from '../../contract/wire-types.js';

/** Up to 50 pairs; keys have 1 to 100 characters, values are texts, numbers or booleans. */
export interface MetadataDto {
  [key: string]: string | number | boolean;
}

export type RecordStatusDto = 'published' | 'deleted' | 'archived';

/** Members that every record has. */
export interface RecordDto {
  /** @example "plan_01KAHZ3M4N5P6Q7R8S9T0V1W2X" */
  id: string;
  tenant_id: string;
  environment_id: string;
  status: RecordStatusDto;
  metadata: MetadataDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export function instantToDto(instant: InstantMs | null): DateTime | null {
  return instant === null ? null : formatInstant(instant);
}

/** Numeric column text without trailing zeros: the wire form of quantities and rates. */
export function rateToDto(text: string): DecimalText {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** What was done. */
export interface MessageDto {
  message: string;
}

export interface PaginationDto {
  /** As requested. @isInt */
  limit: number;
  /** As requested. @isInt */
  offset: number;
  /** Number of all matches. @isInt */
  total: number;
  /** Only where there are more matches than `total` says. */
  total_is_lower_bound?: true;
}

/** A page of records. */
export interface ListDto<Item> {
  items: Item[];
  pagination: PaginationDto;
}

/** The answer to a refused request. */
export interface ErrorDto {
  code:
    | 'validation_error'
    | 'invalid_operation'
    | 'permission_denied'
    | 'not_found'
    | 'already_exists'
    | 'version_conflict'
    | 'database_error'
    | 'system_error'
    | 'internal_error'
    | 'http_client_error'
    | 'service_unavailable'
    | 'too_many_requests';
  /** @isInt */
  http_status_code: number;
  message: string;
  /** Request member to what is wrong with it. */
  details?: { [member: string]: string };
}

/** One condition; all conditions of a search must hold. */
export interface FilterDto {
  /** A scalar member of the resource, or `metadata.<key>`. @minLength 1 @maxLength 200 */
  field: string;
  operator?:
    | 'eq'
    | 'neq'
    | 'contains'
    | 'not_contains'
    | 'gt'
    | 'gte'
    | 'lt'
    | 'lte'
    | 'in'
    | 'not_in'
    | 'before'
    | 'after';
  data_type?: 'string' | 'number' | 'boolean' | 'date' | 'array';
  value: FilterValueDto;
}

/** Exactly one member; with `data_type`, the member of that type counts. */
export interface FilterValueDto {
  string?: string;
  number?: number;
  boolean?: boolean;
  date?: DateTime;
  /** @maxItems 1000 */
  array?: string[];
}

export interface SortDto {
  /** @minLength 1 @maxLength 200 */
  field: string;
  direction?: 'asc' | 'desc';
}

/** Which page of a list or search is asked for (docs/http.md 1.6). */
export interface PageRequest {
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 50
   */
  limit?: number;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000000
   * @default 0
   */
  offset?: number;
}

/** What every search takes; all members are optional and joined by AND. */
export interface SearchBody extends PageRequest {
  /** @default "published" */
  status?: RecordStatusDto;
  /** @maxItems 20 */
  filters?: FilterDto[];
  /** @maxItems 5 */
  sort?: SortDto[];
  /** Of sort keys without a direction, and of created_at where there are none. @default "desc" */
  order?: 'asc' | 'desc';
  /** Created at or after. */
  start_time?: DateTime;
  /** Created before. */
  end_time?: DateTime;
  /** Comma-separated names of expandable members. @maxLength 500 */
  expand?: string;
}
