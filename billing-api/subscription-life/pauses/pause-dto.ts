import type {
  PauseDto,
  PauseMode,
  ResumeMode,
} from '../../declarations/subscriptions/pause.resource.js';
import type { DateTime, MetadataDto } from '../../records/record-dto.js';
import type { ExpandedSubscriptionDto } from '../../subscriptions/subscription-expansions.js';

/** @example {"pause_mode": "immediate", "pause_days": 30, "reason": "season is over"} */
export interface PauseSubscriptionBody {
  pause_mode: PauseMode;
  /** When it begins; with `scheduled` alone. */
  pause_start?: DateTime;
  /** When it ends by itself; without it and `pause_days`, when it is resumed. */
  pause_end?: DateTime;
  /**
   * Its length in days of 24 hours, in place of `pause_end`.
   * @isInt
   * @minimum 1
   * @maximum 3660
   */
  pause_days?: number;
  /** @maxLength 255 */
  reason?: string;
  /** Whether to answer what would happen, and store nothing. */
  dry_run?: boolean;
  metadata?: MetadataDto;
}

/** @example {"resume_mode": "immediate"} */
export interface ResumeSubscriptionBody {
  /** @default "immediate" */
  resume_mode?: ResumeMode;
  /** With `scheduled`: when it is resumed. */
  resume_at?: DateTime;
  /** Whether to answer what would happen, and store nothing. */
  dry_run?: boolean;
  metadata?: MetadataDto;
}

/** What a pause does to the running period. */
export interface BillingImpactDto {
  period_end_before: DateTime;
  /** Null while nobody knows when the pause ends. */
  period_end_after: DateTime | null;
  /** When the period is invoiced; null while nobody knows when the pause ends. */
  next_invoice_at: DateTime | null;
}

/**
 * A subscription that pauses or is resumed. The members of `pause` stand beside it too, where
 * clients of other systems look for them (docs/http.md 18).
 */
export interface PausedSubscriptionDto extends PauseDto {
  subscription: ExpandedSubscriptionDto;
  pause: PauseDto;
  billing_impact: BillingImpactDto;
  dry_run: boolean;
}
