import { z } from 'zod';
import { json } from '../../records/columns.js';
import type { MemberReader } from '../../records/member-rules.js';

const alertLevel = z.object({ condition: z.enum(['above', 'below']), threshold: z.number() });

/** Settings of alerts as they are stored (docs/domain.md 31). */
export const alertSettings = json(
  z.object({
    alert_enabled: z.boolean(),
    critical: alertLevel.nullable(),
    warning: alertLevel.nullable(),
    info: alertLevel.nullable(),
  }),
);

export interface AlertLevelDto {
  condition: 'above' | 'below';
  threshold: number;
}

/**
 * Null counts as absent, so that what was answered can be sent again.
 */
export interface AlertSettingsBody {
  /** @default true */
  alert_enabled?: boolean | null;
  critical?: AlertLevelDto | null;
  /** Needs `critical` with the same condition, and is reached no later than it. */
  warning?: AlertLevelDto | null;
  info?: AlertLevelDto | null;
}

export interface AlertSettingsDto {
  alert_enabled: boolean;
  critical: AlertLevelDto | null;
  warning: AlertLevelDto | null;
  info: AlertLevelDto | null;
}

/** Why these levels of an alert do not go together (docs/domain.md 31); null when they do. */
function warningProblem({ critical, warning }: AlertSettingsBody): string | null {
  if (warning === undefined || warning === null) return null;
  if (critical === undefined || critical === null) return 'needs critical';
  const { condition, threshold } = critical;
  if (warning.condition !== condition)
    return `must have the same condition as critical, ${condition}`;
  const isInOrder =
    condition === 'above' ? threshold >= warning.threshold : threshold <= warning.threshold;
  if (isInOrder) return null;
  const bound = condition === 'above' ? 'at most' : 'at least';
  return `must have a threshold of ${bound} ${threshold}, that of critical`;
}

/** Reads the member `alert_settings` of a request, in the form in which it is stored. */
export function readAlertSettings(
  reader: MemberReader,
  settings: AlertSettingsBody,
): AlertSettingsDto {
  reader.note('alert_settings.warning', warningProblem(settings));
  return {
    alert_enabled: settings.alert_enabled ?? true,
    critical: settings.critical ?? null,
    warning: settings.warning ?? null,
    info: settings.info ?? null,
  };
}
