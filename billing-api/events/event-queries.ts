import type { DateTime } from '../records/record-dto.js';

/** Query of GET /events; all members are optional and joined by AND. */
export interface EventsQuery {
  /** Events of this customer, whichever reference they were sent with. @maxLength 255 */
  external_customer_id?: string;
  /** Events of this customer, whichever reference they were sent with. @maxLength 255 */
  customer_id?: string;
  /** @maxLength 255 */
  event_name?: string;
  /** @maxLength 255 */
  event_id?: string;
  /** An empty text finds events without a source. @maxLength 255 */
  source?: string;
  /** Timestamps at or after; seven days before the end when absent. */
  start_time?: DateTime;
  /** Timestamps before; now when absent. */
  end_time?: DateTime;
  /**
   * `key:text,text;key:text`: the property exists and has one of the texts.
   * @example "region:eu,us;tier:gold"
   */
  property_filters?: string;
  /** Ties are ordered by timestamp and id. @default "timestamp" */
  sort?: 'timestamp' | 'event_name';
  /** @default "desc" */
  order?: 'asc' | 'desc';
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 50
   */
  page_size?: number;
  /**
   * Without effect beside a key; long lists are read by keys.
   * @isInt
   * @minimum 0
   * @maximum 100000
   * @default 0
   */
  offset?: number;
  /** Only events in front of this one: with newest first, what has come since. @maxLength 300 */
  iter_first_key?: string;
  /** Only events behind this one: the next page. @maxLength 300 */
  iter_last_key?: string;
  /** Fills `total_count`. */
  count_total?: boolean;
}

/** Query of GET /events/conflicts. */
export interface EventConflictsQuery {
  /** @maxLength 255 */
  event_id?: string;
  /** Duplicates received at or after. */
  start_time?: DateTime;
  /** Duplicates received before. */
  end_time?: DateTime;
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
