import { formatInstant } from '../../../contract/instant.js';
import { letterIdOf } from './dead-letters-store.js';
import type { DeadLettersPage } from './read-dead-letters.js';
import type { ReplayResult } from './replay-dead-letters.js';
import type { DateTime, PageRequest, ListDto } from '../../records/record-dto.js';

/** Query of GET /events/dead-letters. */
export interface DeadLettersQuery extends PageRequest {
  /** Appended to the log at or after. */
  start_time?: DateTime;
  /** Appended to the log before. */
  end_time?: DateTime;
}

export interface DeadLetterReplayDto {
  replayed_at: DateTime;
  /** The user whose key requested it, or `operator`. */
  replayed_by: string;
  /** Events that were appended to the log again. @isInt */
  events: number;
}

/** A record of the log that could not be decoded. */
export interface DeadLetterDto {
  /** Log, partition and offset. */
  id: string;
  log_id: string;
  /** @isInt */
  partition: number;
  /** @isInt */
  offset: number;
  /** `not_json`, `unknown_version`, `malformed_record`, `malformed_event`, `record_too_large`. */
  reason: string;
  /** When the log appended it. */
  appended_at: DateTime;
  /** Its first 4096 characters. */
  payload: string;
  /** @isInt */
  payload_bytes: number;
  /** Oldest first. */
  replays: DeadLetterReplayDto[];
}

export interface DeadLetterListDto extends ListDto<DeadLetterDto> {}

/** @example {"ids": ["pg-5c8f2f3c0f3b4b6e9d7a1e2f3a4b5c6d:2:1041"]} */
export interface ReplayDeadLettersBody {
  /**
   * @minItems 1
   * @maxItems 100
   */
  ids: string[];
}

export interface DeadLetterReplayResultDto {
  id: string;
  status: 'replayed' | 'refused';
  /** Why it can still not be decoded; null when it was replayed. */
  reason:
    | 'not_json'
    | 'unknown_version'
    | 'malformed_record'
    | 'malformed_event'
    | 'record_too_large'
    | null;
  /** Events that were appended to the log again. @isInt */
  events: number;
}

export interface DeadLetterReplayListDto {
  items: DeadLetterReplayResultDto[];
}

export function lettersToDto(page: DeadLettersPage): DeadLetterListDto {
  const { letters, limit, offset, total } = page;
  const items = letters.map((letter) => ({
    id: letterIdOf(letter),
    log_id: letter.logId,
    partition: letter.partition,
    offset: letter.offset,
    reason: letter.reason,
    appended_at: formatInstant(letter.appendedAtMs),
    payload: letter.excerpt,
    payload_bytes: letter.payloadBytes,
    replays: letter.replays.map((replay) => ({
      replayed_at: formatInstant(replay.replayedAtMs),
      replayed_by: replay.replayedBy,
      events: replay.events,
    })),
  }));
  return { items, pagination: { limit, offset, total } };
}

export function replaysToDto(results: readonly ReplayResult[]): DeadLetterReplayListDto {
  const items = results.map(({ id, reason, events }) => {
    const status = reason === null ? ('replayed' as const) : ('refused' as const);
    return { id, status, reason, events };
  });
  return { items };
}
