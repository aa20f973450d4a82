import { formatInstant } from '../../contract/instant.js';
import type { EventMonitoring } from './read-event-monitoring.js';
import { instantToDto, type DateTime } from '../records/record-dto.js';
import type { WindowSizeDto } from '../declarations/catalog/meter.resource.js';

/** Query of GET /events/monitoring. */
export interface EventMonitoringQuery {
  /** Needed beside end_time; a day before now when both are absent. */
  start_time?: DateTime;
  /** Needed beside start_time; now when both are absent. */
  end_time?: DateTime;
  /** In UTC. @default "HOUR" */
  window_size?: WindowSizeDto;
}

export interface EventPointDto {
  /** Start of the window. */
  timestamp: DateTime;
  /** @isInt */
  event_count: number;
}

export interface EventMonitoringDto {
  /** Stored events whose timestamps lie in the range. @isInt */
  total_count: number;
  /** Records of the log, of all environments, that are not processed yet. @isInt */
  consumption_lag: number;
  /** Events received before it are stored and counted; null while nothing is known to be. */
  visible_until: DateTime | null;
  points: EventPointDto[];
}

export function monitoringToDto(monitoring: EventMonitoring): EventMonitoringDto {
  return {
    total_count: monitoring.total,
    consumption_lag: monitoring.lagRecords,
    visible_until: instantToDto(monitoring.visibleUntil),
    points: monitoring.points.map(({ startMs, count }) => ({
      timestamp: formatInstant(startMs),
      event_count: count,
    })),
  };
}
